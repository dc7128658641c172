/*
 * What only several processes show: who gets how much of the card, and what is left of one that was killed. Shares are
 * read from the cards' own ledger by a process that does not use them.
 */
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cuda_calls.h"
#include "gpu/gpu_state.h"
#include "nvml_load.h"
#include "nvml_view_types.h"

static struct gpu gpu;
static const char *nvml_path;

static void nap(double seconds) {
  struct timespec t = {.tv_sec = (time_t)seconds, .tv_nsec = (long)((seconds - (double)(time_t)seconds) * 1e9)};
  (void)nanosleep(&t, NULL);
}

/* A process that does something for ever. */
static pid_t start(void (*run)(void)) {
  (void)fflush(NULL);
  pid_t pid = fork();
  if (pid != 0) return pid;
  (void)prctl(PR_SET_PDEATHSIG, SIGKILL); /* a test that is cut short leaves nothing running */
  run();
  _exit(9);
}

static void stop(pid_t pid) {
  (void)kill(pid, SIGKILL);
  (void)waitpid(pid, NULL, 0);
}

static void launch_for_ever(const char *text) {
  (void)test_context();
  CUfunction f = test_kernel(text, "spin");
  for (;;) {
    if (test_launch(f, NULL) != CUDA_SUCCESS) _exit(8);
  }
}
/* A full queue of these lasts half a second, so that a busy machine does not let the card run dry. */
static void short_kernels(void) { launch_for_ever("vgpu-fake-kernel name=spin ns=500000"); }
static void long_kernels(void) { launch_for_ever("vgpu-fake-kernel name=spin ns=7300000"); }

static void hold_memory(void) {
  CUdeviceptr p = 0;
  (void)test_context();
  OK(cuMemAlloc_v2(&p, (size_t)3 << 30));
  if (check_failures > 0) _exit(8);
  for (;;) (void)pause();
}

static bool find(pid_t pid, uint32_t *slot) {
  for (uint32_t s = 0; s < gpu.state->process_high; s++) {
    int seen = 0;
    if (!gpu_alive(&gpu, s, &seen) || seen != (int)pid) continue;
    *slot = s;
    return true;
  }
  return false;
}

/* Waits, within a bound, until the process has something on card 0. */
static uint32_t slot_of(pid_t pid) {
  uint32_t slot = 0;
  for (int i = 0; i < 5000; i++) {
    if (gpu.state == NULL) {
      const char *why = NULL;
      (void)gpu_open_reader(&gpu, getenv("FAKE_GPUS_STATE"), &why);
    }
    if (gpu.state != NULL && find(pid, &slot) && gpu.state->processes[slot].on[0].bytes > 0) return slot;
    nap(0.001);
  }
  CHECK(false, "process %d never came", (int)pid);
  return 0;
}

static uint64_t busy(uint32_t slot) { return gpu.state->processes[slot].on[0].busy_ns; }

/* Shares of the card's time in percent over a second. The window is the card's own clock, not the test's. */
static void shares(const uint32_t *slots, int n, double *percent) {
  uint64_t before[8], from = gpu.state->devices[0].now_ns;
  for (int i = 0; i < n; i++) before[i] = busy(slots[i]);
  nap(1.5);
  uint64_t to = gpu.state->devices[0].now_ns;
  for (int i = 0; i < n; i++) percent[i] = 100.0 * (double)(busy(slots[i]) - before[i]) / (double)(to - from);
}

static void check_share(double got, double least, double most, const char *who) {
  CHECK(got >= least && got <= most, "%s got %.2f %%, not %.0f to %.0f", who, got, least, most);
  (void)printf("%s: %.2f %%\n", who, got);
}

static void one_alone_gets_all(void) {
  pid_t a = start(short_kernels);
  uint32_t slot = slot_of(a);
  double got = 0;
  shares(&slot, 1, &got);
  check_share(got, 99, 100.5, "alone");
  stop(a);
}

static void two_get_half_each(void (*one)(void), void (*other)(void), const char *what) {
  pid_t a = start(one), b = start(other);
  uint32_t slots[2] = {slot_of(a), slot_of(b)};
  double got[2];
  nap(0.2); /* both have filled their queues */
  shares(slots, 2, got);
  check_share(got[0], 48, 52, what);
  check_share(got[1], 48, 52, what);
  stop(a);
  stop(b);
}

static void the_killed_leave_the_card(void) {
  pid_t a = start(long_kernels), b = start(short_kernels);
  uint32_t left = slot_of(a), stays = slot_of(b);
  nap(0.2);
  stop(a);
  double got = 0;
  nap(0.05);
  shares(&stays, 1, &got);
  check_share(got, 99, 100.5, "left alone by a kill");
  uint64_t still = busy(left);
  nap(0.1);
  CHECK_EQ(busy(left), still, "a dead process runs on");
  stop(b);
}

static void the_killed_give_memory_back(void) {
  pid_t a = start(hold_memory), b = start(hold_memory);
  uint32_t slots[2] = {slot_of(a), slot_of(b)};
  for (int i = 0; i < 5000 && gpu.state->processes[slots[1]].on[0].bytes < (UINT64_C(3) << 30); i++) nap(0.001);
  for (int i = 0; i < 5000 && gpu.state->processes[slots[0]].on[0].bytes < (UINT64_C(3) << 30); i++) nap(0.001);
  uint64_t each = (UINT64_C(3) << 30) + (UINT64_C(520) << 20);
  CHECK_EQ(gpu_used_by_living(&gpu, 0), 2 * each, "two hold 3 GiB and a context each");
  stop(a);
  CHECK_EQ(gpu_used_by_living(&gpu, 0), each, "one was killed");
  /* Nobody cleans up before somebody needs it; then all of the card is there again. */
  stop(b);
  CUdeviceptr p = 0;
  (void)fflush(NULL);
  pid_t c = fork();
  if (c == 0) {
    size_t available = 0, total = 0;
    (void)test_context();
    OK(cuMemGetInfo_v2(&available, &total));
    OK(cuMemAlloc_v2(&p, available));
    REFUSED(cuMemAlloc_v2(&p, 1 << 20), CUDA_ERROR_OUT_OF_MEMORY);
    _exit(check_failures);
  }
  int status = 0;
  (void)waitpid(c, &status, 0);
  CHECK_EQ(status, 0, "the next process has the whole card");
  CHECK(gpu.state->devices[0].peak <= gpu.state->devices[0].total, "the peak counts the dead");
}

/* The oldest list, and utilisation, which shows the card's figure for each. */
static void older_and_finer(nvmlDevice_t device, unsigned busy_pid, unsigned percent) {
  void *library = dlopen(nvml_path, RTLD_NOW);
  nvmlReturn_t (*list)(nvmlDevice_t, unsigned *, nvmlProcessInfo_v1_t *) = NULL;
  nvmlReturn_t (*use)(nvmlDevice_t, nvmlProcessUtilizationSample_t *, unsigned *, unsigned long long) = NULL;
  nvmlProcessInfo_v1_t infos[4];
  nvmlProcessUtilizationSample_t samples[4];
  unsigned count = 4, found = 0;
  *(void **)&list = dlsym(library, "nvmlDeviceGetComputeRunningProcesses");
  *(void **)&use = dlsym(library, "nvmlDeviceGetProcessUtilization");
  CHECK(list != NULL && use != NULL, "not exported");
  if (list == NULL || use == NULL) return;
  CHECK_EQ(list(device, &count, infos), 0, "the oldest list");
  CHECK_EQ(count, 2, "two processes");
  count = 4;
  CHECK_EQ(use(device, samples, &count, 0), 0, "utilisation");
  for (unsigned i = 0; i < count && i < 4; i++) {
    if (samples[i].pid != busy_pid) continue;
    found++;
    CHECK(samples[i].smUtil + 3 >= percent, "%u of a card at %u", samples[i].smUtil, percent);
  }
  CHECK_EQ(found, 1, "the busy one has a sample");
  CHECK_EQ(use(device, samples, &count, UINT64_MAX), NVML_ERROR_NOT_FOUND, "none newer");
}

static void nvml_sees_the_same(void) {
  static struct nvml n;
  nvmlDevice_t device;
  nvmlMemory_t memory;
  nvmlUtilization_t rates;
  nvmlProcessInfo_t infos[8];
  unsigned count = 8;
  pid_t a = start(hold_memory), b = start(short_kernels);
  (void)slot_of(a);
  (void)slot_of(b);
  for (int i = 0; i < 5000 && gpu_used_by_living(&gpu, 0) < (UINT64_C(3) << 30) + 2 * (UINT64_C(520) << 20); i++) nap(0.001);
  CHECK(!nvml_load(&n, nvml_path), "no NVML");
  CHECK_EQ(n.nvmlInit_v2(), 0, "nvmlInit_v2");
  CHECK_EQ(n.nvmlDeviceGetHandleByIndex_v2(0, &device), 0, "handle");
  CHECK_EQ(n.nvmlDeviceGetMemoryInfo(device, &memory), 0, "memory");
  CHECK_EQ(memory.used - (UINT64_C(616) << 20), gpu_used_by_living(&gpu, 0), "NVML's memory is the cards'");
  CHECK_EQ(n.nvmlDeviceGetComputeRunningProcesses_v3(device, &count, infos), 0, "processes");
  CHECK_EQ(count, 2, "two processes");
  uint64_t sum = 0;
  for (unsigned i = 0; i < count && i < 8; i++) {
    CHECK(infos[i].pid == (unsigned)a || infos[i].pid == (unsigned)b, "a stranger: %u", infos[i].pid);
    sum += infos[i].usedGpuMemory;
  }
  CHECK_EQ(sum, gpu_used_by_living(&gpu, 0), "the processes' memory adds up");
  nap(0.8);
  CHECK_EQ(n.nvmlDeviceGetUtilizationRates(device, &rates), 0, "utilisation");
  CHECK(rates.gpu >= 95, "a busy card shows %u %%", rates.gpu);
  older_and_finer(device, (unsigned)b, rates.gpu);
  stop(b);
  stop(a);
  CHECK_EQ(n.nvmlDeviceGetMemoryInfo(device, &memory), 0, "memory");
  CHECK_EQ(memory.used, UINT64_C(616) << 20, "nothing is left of the killed");
}

int main(int argc, char **argv) {
  if (argc != 2) return 2;
  nvml_path = argv[1];
  one_alone_gets_all();
  two_get_half_each(short_kernels, short_kernels, "short beside short");
  two_get_half_each(short_kernels, long_kernels, "short beside long");
  the_killed_leave_the_card();
  the_killed_give_memory_back();
  nvml_sees_the_same();
  return check_result();
}
