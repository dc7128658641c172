/*
 * Processes that allocate, launch and wait are killed at any moment, some inside a lock of the shared cards. Whoever is
 * left must go on, and in the end nothing may be missing. CUDA_STORM_KILLS and CUDA_STORM_SEED change it.
 */
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cuda_calls.h"
#include "gpu/gpu_state.h"

enum { CHILDREN = 24 };

static uint64_t next(uint64_t *seed) {
  *seed ^= *seed << 13;
  *seed ^= *seed >> 7;
  *seed ^= *seed << 17;
  return *seed;
}

static uint64_t setting(const char *name, uint64_t otherwise) {
  const char *text = getenv(name);
  return text == NULL ? otherwise : strtoull(text, NULL, 10);
}

static void work(uint64_t seed) {
  CUdeviceptr held[8] = {0};
  CUcontext ctx = NULL;
  OK(cuInit(0));
  while (cuDevicePrimaryCtxRetain(&ctx, 0) == CUDA_ERROR_OUT_OF_MEMORY) (void)usleep(1000); /* the others have it all */
  OK(cuCtxSetCurrent(ctx));
  CUfunction f = test_kernel("vgpu-fake-kernel name=spin ns=20000", "spin");
  for (;;) {
    CUdeviceptr *p = &held[next(&seed) % 8];
    switch (next(&seed) % 4) {
      case 0:
        if (*p == 0 && cuMemAlloc_v2(p, (size_t)(next(&seed) % (UINT64_C(8) << 30)) + 1) != CUDA_SUCCESS) *p = 0;
        break;
      case 1:
        if (cuMemFree_v2(*p) != CUDA_SUCCESS) _exit(7);
        *p = 0;
        break;
      case 2:
        for (int i = 0; i < 50; i++) (void)test_launch(f, NULL);
        break;
      default:
        if (cuStreamQuery(NULL) == CUDA_ERROR_INVALID_CONTEXT) _exit(6);
    }
  }
}

static pid_t start(uint64_t seed) {
  (void)fflush(NULL);
  pid_t pid = fork();
  if (pid != 0) return pid;
  (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
  work(seed);
  _exit(9);
}

static void kill_one(pid_t pid) {
  int status = 0;
  (void)kill(pid, SIGKILL);
  (void)waitpid(pid, &status, 0);
  CHECK(WIFSIGNALED(status), "a child ended by itself: %x", (unsigned)status);
}

int main(void) {
  uint64_t seed = setting("CUDA_STORM_SEED", 4711), kills = setting("CUDA_STORM_KILLS", 300);
  pid_t children[CHILDREN];
  struct gpu gpu;
  const char *why = NULL;
  size_t available = 0, total = 0;
  for (int i = 0; i < CHILDREN; i++) children[i] = start(next(&seed));
  for (uint64_t k = 0; k < kills; k++) {
    struct timespec t = {.tv_nsec = (long)(next(&seed) % 8000000)};
    (void)nanosleep(&t, NULL);
    pid_t *child = &children[next(&seed) % CHILDREN];
    kill_one(*child);
    *child = start(next(&seed));
  }
  for (int i = 0; i < CHILDREN; i++) kill_one(children[i]);
  CHECK(!gpu_open_reader(&gpu, getenv("FAKE_GPUS_STATE"), &why), "%s", why);
  CHECK_EQ(gpu_used_by_living(&gpu, 0), 0, "held by nobody");
  CHECK(gpu.state->devices[0].peak <= gpu.state->devices[0].total, "more than there is");
  (void)test_context();
  OK(cuMemGetInfo_v2(&available, &total));
  CHECK_EQ(total - available, UINT64_C(520) << 20, "only our context");
  CUdeviceptr p = 0;
  OK(cuMemAlloc_v2(&p, available));
  OK(cuMemFree_v2(p));
  static CUfunction volatile spin; /* or what is loaded counts as lost at the end */
  spin = test_kernel("vgpu-fake-kernel name=spin ns=20000", "spin");
  OK(test_launch(spin, NULL));
  OK(cuCtxSynchronize());
  CHECK(gpu.state->devices[0].used == UINT64_C(520) << 20, "the sum is %llu", (unsigned long long)gpu.state->devices[0].used);
  (void)printf("seed %llu, %llu kills, peak %llu MiB\n", (unsigned long long)setting("CUDA_STORM_SEED", 4711),
               (unsigned long long)kills, (unsigned long long)(gpu.state->devices[0].peak >> 20));
  return check_result();
}
