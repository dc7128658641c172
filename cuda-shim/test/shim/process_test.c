/* Slots and regions: who is counted, who is taken back, and what is no limit at all. */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../unit/check.h"
#include "entry.h"
#include "hooks.h"
#include "ledger.h"
#include "model.h"

static void begin(uint64_t limit_mib) {
  model_begin(16384);
  regions_begin(limit_mib, VGPU_LIMIT_MEMORY);
}

/* A child that starts CUDA, takes so many MiB, says so through the pipe and waits for its end. */
static pid_t child_with(uint64_t mib, int *result) {
  int pair[2];
  if (pipe(pair) != 0) abort();
  pid_t pid = fork();
  if (pid == 0) {
    CUdeviceptr at;
    char said = (char)vgpu_on_cuInit(0);
    if (said == 0) said = (char)vgpu_on_cuMemAlloc_v2(&at, mib * MODEL_MIB);
    if (write(pair[1], &said, 1) != 1) _exit(9);
    for (;;) (void)pause();
  }
  char said = 99;
  if (read(pair[0], &said, 1) != 1) abort();
  *result = said;
  (void)close(pair[0]);
  (void)close(pair[1]);
  return pid;
}

static void end(pid_t pid) {
  (void)kill(pid, SIGKILL);
  (void)waitpid(pid, NULL, 0);
}

static void processes_share_one_limit_and_the_killed_give_theirs_back(void) {
  begin(100);
  int first, second, third;
  pid_t a = child_with(60, &first), b = child_with(60, &second);
  CHECK_EQ(first, CUDA_SUCCESS, "60 of 100");
  CHECK_EQ(second, CUDA_ERROR_OUT_OF_MEMORY, "60 more");
  CHECK_EQ(regions.usage->header.slot_high_water, 2, "slots");
  end(a);
  pid_t c = child_with(90, &third);
  CHECK_EQ(third, CUDA_SUCCESS, "after the first was killed");
  CHECK_EQ(regions.usage->slots[0].state, VGPU_SLOT_FREE, "its slot was taken back when there was no room");
  end(b);
  end(c);
  CHECK_EQ(vgpu_reap(vgpu_shared()), 2, "both are found dead");
  CHECK_EQ(regions.usage->slots[2].state, VGPU_SLOT_FREE, "free");
  CHECK_EQ(regions.usage->slots[2].bytes[0], 0, "empty");
}

static void a_zombie_is_dead(void) {
  begin(100);
  int result;
  pid_t a = child_with(60, &result);
  (void)kill(a, SIGKILL);
  siginfo_t info;
  (void)waitid(P_PID, (id_t)a, &info, WEXITED | WNOWAIT);
  CHECK_EQ(vgpu_reap(vgpu_shared()), 1, "not waited for yet");
  (void)waitpid(a, NULL, 0);
}

static void a_live_process_is_never_taken_back(void) {
  begin(100);
  int result;
  pid_t a = child_with(60, &result);
  CHECK_EQ(vgpu_reap(vgpu_shared()), 0, "alive");
  regions.usage->slots[0].start_time++; /* says /proc of another; but it holds its lock */
  CHECK_EQ(vgpu_reap(vgpu_shared()), 0, "alive by its lock");
  end(a);
}

static void a_pid_that_is_another_process_now_does_not_keep_a_slot(void) {
  begin(100);
  struct vgpu_usage_slot *s = &regions.usage->slots[0];
  *s = (struct vgpu_usage_slot){.state = VGPU_SLOT_LIVE, .pid = getpid(), .start_time = 1, .bytes = {1 << 20}};
  regions.usage->header.slot_high_water = 1;
  CHECK_EQ(vgpu_reap(vgpu_shared()), 1, "reused pid");
  *s = (struct vgpu_usage_slot){.state = VGPU_SLOT_CLAIMING};
  CHECK_EQ(vgpu_reap(vgpu_shared()), 1, "died while it claimed");
  *s = (struct vgpu_usage_slot){.state = VGPU_SLOT_REAPING, .bytes = {1 << 20}};
  CHECK_EQ(vgpu_reap(vgpu_shared()), 1, "the reaper died");
}

static void a_forked_child_has_no_slot_until_it_takes_its_own(void) {
  begin(100);
  CHECK_EQ(vgpu_on_cuInit(0), CUDA_SUCCESS, "parent");
  CUdeviceptr at;
  CHECK_EQ(vgpu_on_cuMemAlloc_v2(&at, 10 * MODEL_MIB), CUDA_SUCCESS, "parent");
  pid_t pid = fork();
  if (pid == 0) {
    bool none = vgpu_process_claimed() == NULL;
    bool own = vgpu_on_cuInit(0) == CUDA_SUCCESS && vgpu_process_claimed() != NULL && vgpu_process_claimed()->slot == 1;
    bool counted = vgpu_on_cuMemAlloc_v2(&at, 91 * MODEL_MIB) == CUDA_ERROR_OUT_OF_MEMORY &&
                   vgpu_on_cuMemAlloc_v2(&at, 90 * MODEL_MIB) == CUDA_SUCCESS;
    _exit(none && own && counted ? 0 : 1);
  }
  int status;
  (void)waitpid(pid, &status, 0);
  CHECK_EQ(status, 0, "child");
  CHECK_EQ(regions.usage->slots[0].bytes[0], 10 * MODEL_MIB, "the parent's is untouched");
}

static void without_a_slot_nothing_starts(void) {
  begin(100);
  for (int k = 0; k < VGPU_SLOTS; k++) {
    /* this process, with its true start: nobody may take them */
    bool zombie;
    regions.usage->slots[k] =
        (struct vgpu_usage_slot){.state = VGPU_SLOT_LIVE, .pid = getpid(), .start_time = vgpu_start_time(getpid(), &zombie)};
  }
  regions.usage->header.slot_high_water = VGPU_SLOTS;
  CHECK_EQ(vgpu_on_cuInit(0), CUDA_ERROR_SYSTEM_NOT_READY, "full");
  regions.usage->slots[1000].state = VGPU_SLOT_FREE;
  CHECK_EQ(vgpu_on_cuInit(0), CUDA_SUCCESS, "one is free");
  CHECK_EQ(regions.usage->slots[1000].pid, getpid(), "that one");
}

static void limits_that_name_no_card_of_the_process_stop_it(void) {
  begin(100);
  regions.limits->devices[0].uuid[6] = '9';
  CHECK_EQ(vgpu_on_cuInit(0), CUDA_ERROR_SYSTEM_NOT_READY, "another card's limits");
  begin(100);
  memset(regions.limits->devices[0].uuid, 'x', sizeof regions.limits->devices[0].uuid);
  CHECK_EQ(vgpu_on_cuInit(0), CUDA_ERROR_SYSTEM_NOT_READY, "a name without an end");
}

/* ---- regions */

static enum vgpu_mode mode_now(void) {
  vgpu_shared_forget();
  return vgpu_shared()->mode;
}

static void a_broken_region_fails_closed_and_none_is_no_limit(void) {
  begin(100);
  CHECK_EQ(mode_now(), VGPU_ACTIVE, "sound");
  struct vgpu_header good = regions.limits->header;
  for (size_t byte = 0; byte < 24; byte++) {
    if (byte == 6 || byte == 7) continue; /* the minor version */
    ((unsigned char *)&regions.limits->header)[byte] ^= 0x40;
    bool bad = mode_now() == VGPU_BROKEN;
    CHECK(bad, "byte %zu", byte);
    regions.limits->header = good;
  }
  regions.limits->header.minor = 9;
  CHECK_EQ(mode_now(), VGPU_ACTIVE, "a later minor version");
  regions.limits->header = good;
  regions.usage->header.magic = 0;
  CHECK_EQ(mode_now(), VGPU_BROKEN, "usage not made yet");
  CHECK_EQ(vgpu_on_cuInit(0), CUDA_ERROR_SYSTEM_NOT_READY, "cuInit says so");
  regions.usage->header.magic = VGPU_USAGE_MAGIC;
  regions.load->header.magic = 0;
  CHECK_EQ(mode_now(), VGPU_ACTIVE, "without load there is less comfort, not less limit");
  (void)setenv("CUDA_SHIM_CONFIG_DIR", "/no/such/directory", 1);
  CHECK_EQ(mode_now(), VGPU_BROKEN, "named but not there");
  (void)setenv("CUDA_SHIM_DISABLE", "1", 1);
  CHECK_EQ(mode_now(), VGPU_PASSIVE, "switched off");
  (void)unsetenv("CUDA_SHIM_DISABLE");
  (void)unsetenv("CUDA_SHIM_CONFIG_DIR");
  CHECK_EQ(mode_now(), VGPU_PASSIVE, "nothing was asked");
  CHECK_EQ(vgpu_on_cuInit(0), CUDA_SUCCESS, "cuInit");
  (void)setenv("CUDA_SHIM_CONFIG_DIR", regions.directory, 1);
}

/* The root of containers' directories, here on a file system that can be written. */
static void a_limits_that_the_tenant_could_have_made_is_refused(void) {
  begin(100);
  char root[] = "/tmp/shim-root-XXXXXX", directory[64], file[80], target[80];
  if (mkdtemp(root) == NULL) abort();
  vgpu_config_root = root;
  CHECK_EQ(mode_now(), VGPU_ACTIVE, "an empty root: the program's own directory");
  (void)snprintf(directory, sizeof directory, "%s/driver", root);
  (void)mkdir(directory, 0700);
  CHECK_EQ(mode_now(), VGPU_ACTIVE, "the driver's directory is no container's");
  (void)snprintf(directory, sizeof directory, "%s/main", root);
  (void)mkdir(directory, 0700);
  CHECK_EQ(mode_now(), VGPU_ACTIVE, "without a limits it is nothing");
  (void)snprintf(file, sizeof file, "%s/limits", directory);
  (void)snprintf(target, sizeof target, "%s/limits", regions.directory);
  CHECK_EQ(symlink(target, file), 0, "limits");
  CHECK_EQ(mode_now(), VGPU_BROKEN, "not on a read-only mount");
  (void)setenv("CUDA_SHIM_DISABLE", "1", 1);
  CHECK_EQ(mode_now(), VGPU_BROKEN, "and the environment has no say");
  (void)unsetenv("CUDA_SHIM_DISABLE");
  (void)unlink(file);
  (void)rmdir(directory);
  (void)snprintf(directory, sizeof directory, "%s/driver", root);
  (void)rmdir(directory);
  (void)rmdir(root);
  vgpu_config_root = VGPU_CONFIG_ROOT;
}

/* ---- the seqlock */

static atomic_bool writing;

static void *writer(void *unused) {
  struct vgpu_limits_device *d = &regions.limits->devices[0];
  for (uint64_t i = 1; atomic_load(&writing); i++) {
    __atomic_store_n(&d->seq, d->seq + 1, __ATOMIC_RELAXED);
    __atomic_store_n(&d->mem_limit, i, __ATOMIC_RELEASE);
    __atomic_store_n(&d->host_pinned_limit, 2 * i + 1, __ATOMIC_RELEASE);
    __atomic_store_n(&d->seq, d->seq + 1, __ATOMIC_RELEASE);
  }
  return unused;
}

static void limits_are_read_whole_while_they_change(void) {
  begin(100);
  struct vgpu_limit limit;
  regions.limits->devices[0].mem_limit = 0;
  regions.limits->devices[0].host_pinned_limit = 1;
  regions.limits->devices[0].seq = 2; /* so that the last good copy is this test's, not an earlier one's */
  CHECK(vgpu_limit_read(vgpu_shared(), 0, &limit), "before it changes");
  atomic_store(&writing, true);
  pthread_t thread;
  if (pthread_create(&thread, NULL, writer, NULL) != 0) abort();
  int torn = 0, read = 0;
  for (int i = 0; i < 200000; i++) {
    if (!vgpu_limit_read(vgpu_shared(), 0, &limit)) continue;
    read++;
    if (limit.pinned != 2 * limit.memory + 1) torn++;
  }
  atomic_store(&writing, false);
  (void)pthread_join(thread, NULL);
  CHECK_EQ(torn, 0, "torn");
  CHECK(read > 1000, "%d read", read);
  regions.limits->devices[0].seq |= 1; /* a writer that died in the middle */
  CHECK(vgpu_limit_read(vgpu_shared(), 0, &limit), "the last good copy");
  CHECK_EQ(limit.pinned, 2 * limit.memory + 1, "whole");
}

static void figures_that_a_tenant_scribbled_harm_only_him_and_never_crash(void) {
  begin(100);
  CHECK_EQ(vgpu_on_cuInit(0), CUDA_SUCCESS, "cuInit");
  CUdeviceptr at;
  CHECK_EQ(vgpu_on_cuMemAlloc_v2(&at, 60 * MODEL_MIB), CUDA_SUCCESS, "60");
  regions.usage->slots[0].bytes[0] = INT64_MIN; /* pretends to hold less than nothing */
  CHECK_EQ(vgpu_on_cuMemAlloc_v2(&at, 60 * MODEL_MIB), CUDA_ERROR_OUT_OF_MEMORY, "the process knows better");
  regions.usage->slots[0].bytes[0] = (int64_t)(60 * MODEL_MIB);
  regions.usage->slots[5] = (struct vgpu_usage_slot){.state = 77, .pid = -1, .bytes = {INT64_MAX}};
  regions.usage->header.slot_high_water = UINT32_MAX;
  CHECK_EQ(vgpu_on_cuMemAlloc_v2(&at, 30 * MODEL_MIB), CUDA_SUCCESS, "garbage of nobody is reaped");
}

int main(void) {
  processes_share_one_limit_and_the_killed_give_theirs_back();
  a_zombie_is_dead();
  a_live_process_is_never_taken_back();
  a_pid_that_is_another_process_now_does_not_keep_a_slot();
  a_forked_child_has_no_slot_until_it_takes_its_own();
  without_a_slot_nothing_starts();
  limits_that_name_no_card_of_the_process_stop_it();
  a_broken_region_fails_closed_and_none_is_no_limit();
  a_limits_that_the_tenant_could_have_made_is_refused();
  limits_are_read_whole_while_they_change();
  figures_that_a_tenant_scribbled_harm_only_him_and_never_crash();
  return check_result();
}
