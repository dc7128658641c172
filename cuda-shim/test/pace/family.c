/*
 * Programs that are more than one line of work: family KERNEL_NS BATCH WAY. Kernels as tenant.c's, with a wait after each BATCH.
 *   WAY 0   forks before it uses the card, and only its child works
 *   WAY 1   works, forks, and both work: the child by a program of its own, since the driver is of no use to it
 *   WAY 2   works on both cards at once, a thread on each
 *   WAY 3   works
 */
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/types.h>
#include <unistd.h>

#include "cuda_calls.h"

static char text[96];
static long batch;

/* Ends the process when something is amiss, for a while or for ever. */
static void work(CUdevice device, bool for_ever) {
  CUcontext ctx = NULL;
  OK(cuInit(0));
  OK(cuDevicePrimaryCtxRetain(&ctx, device));
  OK(cuCtxSetCurrent(ctx));
  CUfunction f = test_kernel(text, "spin");
  for (long n = 1; for_ever || n <= 10 * batch; n++) {
    if (test_launch(f, NULL) != CUDA_SUCCESS) _exit(8);
    if (n % batch == 0 && cuStreamSynchronize(NULL) != CUDA_SUCCESS) _exit(9);
  }
}

static void *on_second(void *unused) {
  (void)unused;
  work(1, true);
  return NULL;
}

/* A child that ends with its parent. */
static pid_t begin(void) {
  pid_t pid = fork();
  if (pid == 0) (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
  return pid;
}

int main(int argc, char **argv) {
  if (argc != 4) return 2;
  batch = strtol(argv[2], NULL, 10);
  (void)snprintf(text, sizeof text, "vgpu-fake-kernel name=spin ns=%s", argv[1]);
  pthread_t second;
  switch (strtol(argv[3], NULL, 10)) {
    case 0:
      if (begin() == 0) work(0, true);
      for (;;) (void)pause();
    case 1:
      work(0, false);
      if (begin() == 0) {
        if (cuCtxSynchronize() != CUDA_ERROR_NOT_INITIALIZED) _exit(7);
        (void)execl("/proc/self/exe", argv[0], argv[1], argv[2], "3", (char *)NULL);
        _exit(127);
      }
      work(0, true);
      return 0;
    case 2:
      if (pthread_create(&second, NULL, on_second, NULL) != 0) return 3;
      work(0, true);
      return 0;
    default: work(0, true); return 0;
  }
}
