#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "fake.h"
#include "line.h"
#include "profile_file.h"

struct fake_state fake = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Handles are addresses in here: a whole card first, then its MIG devices. Nothing is stored. */
struct nvmlDevice_st {
  char unused;
};
static struct nvmlDevice_st handles[FAKE_DEVICES][1 + FAKE_MIGS];

static uint64_t clock_ns(void) {
  struct timespec t;
  (void)clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

uint64_t fake_now(void) {
  uint64_t now = clock_ns();
  return now > fake.epoch_ns ? now - fake.epoch_ns : 0;
}

nvmlDevice_t fake_handle(int device, int mig) { return &handles[device][1 + mig]; }

bool fake_resolve(nvmlDevice_t handle, struct fake_target *out) {
  uintptr_t base = (uintptr_t)&handles[0][0], at = (uintptr_t)handle;
  if (at < base || at >= base + sizeof handles) return false;
  int cell = (int)((at - base) / sizeof handles[0][0]);
  out->device = cell / (1 + FAKE_MIGS);
  out->mig = cell % (1 + FAKE_MIGS) - 1;
  if (out->device >= fake.profile.device_count) return false;
  return out->mig < 0 || fake.profile.devices[out->device].migs[out->mig].present;
}

nvmlReturn_t fake_card(nvmlDevice_t handle, struct fake_device **device, int *index) {
  struct fake_target t;
  if (!fake_resolve(handle, &t)) return NVML_ERROR_INVALID_ARGUMENT;
  if (t.mig >= 0) return NVML_ERROR_NOT_SUPPORTED;
  *device = &fake.profile.devices[t.device];
  if (index != NULL) *index = t.device;
  return NVML_SUCCESS;
}

bool fake_lost(int device) { return fake.profile.devices[device].lost_at <= fake_now(); }

nvmlReturn_t fake_copy(char *out, unsigned int length, const char *text) {
  if (out == NULL) return NVML_ERROR_INVALID_ARGUMENT;
  size_t n = strlen(text) + 1;
  if (n > length) return NVML_ERROR_INSUFFICIENT_SIZE;
  memcpy(out, text, n);
  return NVML_SUCCESS;
}

/* ---- the profile --------------------------------------------------------------------------------------------------- */

static void set_epoch(void) {
  if (fake.epoch_ns != 0) return;
  const char *env = getenv("FAKE_GPUS_EPOCH");
  fake.epoch_ns = clock_ns();
  if (env == NULL || *env == '\0') return;
  uint64_t given;
  if (line_parse_seconds(env, &given)) {
    fake.epoch_ns = given;
  } else {
    (void)fprintf(stderr, "FAKE_GPUS_EPOCH: \"%s\" is not a time in seconds; the node starts now\n", env);
  }
}

/* True on error, which is then on stderr. */
static bool load_profile(void) {
  char path[4096];
  if (!fake_profile_path(&fake, path, sizeof path)) {
    (void)fprintf(stderr, "FAKE_GPUS: names no file\n");
    return true;
  }
  if (fake_profile_load(&fake.profile, path)) return true;
  set_epoch();
  control_open(path);
  cards_open(path);
  fake.loaded = true;
  return false;
}

/* ---- entering ------------------------------------------------------------------------------------------------------ */

static void sleep_unlocked(uint64_t ms) {
  struct timespec t = {.tv_sec = (time_t)(ms / 1000), .tv_nsec = (long)(ms % 1000) * 1000000};
  (void)pthread_mutex_unlock(&fake.lock);
  while (nanosleep(&t, &t) != 0 && errno == EINTR) {
  }
  (void)pthread_mutex_lock(&fake.lock);
}

/* Counts the call; adds up what the faults that hit it want. */
static nvmlReturn_t count_call(enum fake_function fn, int device, uint64_t *hang_ms) {
  nvmlReturn_t result = NVML_SUCCESS;
  uint64_t all = ++fake.calls[fn][FAKE_DEVICES];
  uint64_t here = device >= 0 ? ++fake.calls[fn][device] : 0;
  for (int i = 0; i < fake.profile.fault_count; i++) {
    const struct fake_fault *f = &fake.profile.faults[i];
    if (f->function != (int)fn || (f->device != FAKE_ALL_DEVICES && f->device != device)) continue;
    uint64_t n = f->device == FAKE_ALL_DEVICES ? all : here;
    if (n < f->from || n - f->from >= f->count) continue;
    *hang_ms += f->hang_ms;
    if (result == NVML_SUCCESS) result = f->code;
  }
  return result;
}

static nvmlReturn_t admit(enum fake_function fn, enum fake_call kind, nvmlDevice_t handle) {
  struct fake_target t = {-1, -1};
  uint64_t hang_ms = 0;
  if (kind == FAKE_CALL_OPEN && !fake.loaded && load_profile()) return NVML_ERROR_UNKNOWN;
  if (kind != FAKE_CALL_OPEN && fake.inits == 0) return NVML_ERROR_UNINITIALIZED;
  control_poll();
  if (kind == FAKE_CALL_DEV && !fake_resolve(handle, &t)) return NVML_ERROR_INVALID_ARGUMENT;
  nvmlReturn_t result = count_call(fn, t.device, &hang_ms);
  if (hang_ms > 0) {
    sleep_unlocked(hang_ms);
    if (kind != FAKE_CALL_OPEN && fake.inits == 0) return NVML_ERROR_UNINITIALIZED;
    if (kind == FAKE_CALL_OPEN && !fake.loaded && load_profile()) return NVML_ERROR_UNKNOWN;
  }
  if (result != NVML_SUCCESS) return result;
  return t.device >= 0 && fake_lost(t.device) ? NVML_ERROR_GPU_IS_LOST : NVML_SUCCESS;
}

nvmlReturn_t fake_enter(enum fake_function fn, enum fake_call kind, nvmlDevice_t device) {
  (void)pthread_mutex_lock(&fake.lock);
  nvmlReturn_t result = admit(fn, kind, device);
  if (result != NVML_SUCCESS) (void)pthread_mutex_unlock(&fake.lock);
  return result;
}

void fake_leave(void) { (void)pthread_mutex_unlock(&fake.lock); }

/* ---- initialisation ------------------------------------------------------------------------------------------------ */

static void *stay(void *unused) {
  for (;;) (void)pause();
  return unused;
}

/* As the real library does: a thread that blocks no more signals than the one that initialised, and takes those it gets. */
static void begin_thread(void) {
  static bool begun;
  if (begun || getenv("FAKE_GPUS_THREAD") == NULL) return;
  /* it must outlive the library's being closed */
  Dl_info self;
  if (dladdr(&fake, &self) == 0 || dlopen(self.dli_fname, RTLD_NOW | RTLD_NODELETE) == NULL) return;
  pthread_t thread;
  begun = pthread_create(&thread, NULL, stay, NULL) == 0;
  if (begun) (void)pthread_detach(thread);
}

nvmlReturn_t fake_nvmlInitWithFlags(unsigned int flags) {
  if ((flags & ~(unsigned)(NVML_INIT_FLAG_NO_GPUS | NVML_INIT_FLAG_NO_ATTACH)) != 0) return NVML_ERROR_INVALID_ARGUMENT;
  if (fake.profile.device_count == 0 && (flags & NVML_INIT_FLAG_NO_GPUS) == 0) return NVML_ERROR_GPU_NOT_FOUND;
  fake.inits++;
  begin_thread();
  return NVML_SUCCESS;
}

nvmlReturn_t fake_nvmlInit_v2(void) { return fake_nvmlInitWithFlags(0); }

/* The last one forgets the node but not its start: the next initialisation reads the file again. */
nvmlReturn_t fake_nvmlShutdown(void) {
  if (--fake.inits > 0) return NVML_SUCCESS;
  fake.loaded = false;
  memset(fake.calls, 0, sizeof fake.calls);
  for (int i = 0; i < FAKE_SETS; i++) {
    fake.sets[i].used = false;
    fake.sets[i].generation++;
  }
  return NVML_SUCCESS;
}

const char *fake_nvmlErrorString(nvmlReturn_t result) { return code_text(result); }
