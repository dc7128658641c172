/* Streams and events on the virtual clock: order, times, waiting, and what waits for the host. */
#include <pthread.h>

#include "cuda_calls.h"

static CUfunction spin, timed;

static double elapsed(CUevent a, CUevent b) {
  float ms = -1;
  OK(cuEventElapsedTime(&ms, a, b));
  return (double)ms;
}

static void ten_short(void *stream) {
  for (int i = 0; i < 10; i++) OK(test_launch(spin, stream));
}

static void events_tell_the_cards_time(void) {
  CUevent a = NULL, b = NULL, c = NULL;
  CUstream s = NULL;
  float ms = 0;
  OK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
  OK(cuEventCreate(&a, 0));
  OK(cuEventCreate(&b, 0));
  OK(cuEventCreate(&c, CU_EVENT_DISABLE_TIMING));
  REFUSED(cuEventElapsedTime(&ms, a, b), CUDA_ERROR_INVALID_HANDLE); /* never recorded */
  OK(cuEventQuery(a));
  OK(cuLaunchKernel(timed, 1, 1, 1, 1, 1, 1, 0, s, (void *[]){&(uint64_t){300000000}},
                    NULL)); /* longer than this thread is held up */
  OK(cuEventRecord(a, s));
  for (int i = 0; i < 10; i++) OK(test_launch(spin, s));
  OK(cuEventRecord(b, s));
  OK(cuEventRecord(c, s));
  REFUSED(cuEventQuery(b), CUDA_ERROR_NOT_READY);
  REFUSED(cuStreamQuery(s), CUDA_ERROR_NOT_READY);
  REFUSED(cuEventElapsedTime(&ms, a, b), CUDA_ERROR_NOT_READY);
  OK(cuEventSynchronize(c));
  OK(cuStreamQuery(s));
  CHECK(elapsed(a, b) >= 10.0, "ten of 1 ms took %f ms", elapsed(a, b));
  double least = test_milliseconds(ten_short, s, s);
  CHECK_MS(least, 10.0);
  REFUSED(cuEventElapsedTime(&ms, a, c), CUDA_ERROR_INVALID_HANDLE);
  OK(cuStreamDestroy_v2(s));
  OK(cuEventDestroy_v2(c));
  /* An event keeps its time when its place in the queue is long used again. */
  for (int i = 0; i < 3000; i++) OK(cuLaunchKernel(timed, 1, 1, 1, 1, 1, 1, 0, NULL, (void *[]){&(uint64_t){100}}, NULL));
  OK(cuCtxSynchronize());
  CHECK(elapsed(a, b) >= 10.0, "an old event forgot its time: %f", elapsed(a, b));
  OK(cuEventDestroy_v2(a));
  OK(cuEventDestroy_v2(b));
}

static void two_of_3_ms(void *unused) {
  uint64_t ns = 3000000;
  void *params[] = {&ns};
  CUlaunchConfig config = {1, 1, 1, 1, 1, 1, 0, NULL, NULL, 0};
  (void)unused;
  OK(cuLaunchKernel(timed, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL));
  OK(cuLaunchKernelEx(&config, timed, params, NULL));
}

static void an_argument_can_say_the_length(void) {
  uint64_t ns = 3000000;
  void *params[] = {&ns};
  double least = test_milliseconds(two_of_3_ms, NULL, NULL);
  CHECK_MS(least, 6.0);
  REFUSED(cuLaunchKernel(timed, 0, 1, 1, 1, 1, 1, 0, NULL, params, NULL), CUDA_ERROR_INVALID_VALUE);
  REFUSED(cuLaunchKernel(timed, 1, 1, 1, 2048, 1, 1, 0, NULL, params, NULL), CUDA_ERROR_INVALID_VALUE);
  REFUSED(cuLaunchCooperativeKernel(spin, 4000, 1, 1, 1024, 1, 1, 0, NULL, NULL), CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
}

struct seen {
  int order[4];
  atomic_int count;
};
static void note(struct seen *s, int what) { s->order[s->count++] = what; }
static void first(void *data) { note(data, 1); }
static void second(void *data) { note(data, 2); }

/* What is behind a host function in its stream waits for it; other streams go on. */
static void host_functions_hold_their_stream(void) {
  struct seen seen = {.count = 0};
  CUdeviceptr p = 0;
  CUstream s = NULL, other = NULL;
  CUevent e = NULL;
  unsigned word = 0;
  OK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
  OK(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
  OK(cuEventCreate(&e, 0));
  OK(cuMemAlloc_v2(&p, 4096));
  OK(cuMemsetD32_v2(p, 0, 1));
  OK(cuStreamWaitValue32_v2(s, p, 7, 1)); /* equal */
  OK(cuLaunchHostFunc(s, first, &seen));
  OK(cuMemsetD32Async(p + 64, 5, 1, s));
  OK(cuLaunchHostFunc(s, second, &seen));
  OK(test_launch(spin, s));
  OK(cuEventRecord(e, s));
  OK(cuStreamWaitEvent(other, e, 0));
  REFUSED(cuStreamQuery(other), CUDA_ERROR_NOT_READY);
  OK(test_launch(spin, NULL));
  OK(cuStreamSynchronize(NULL)); /* the others are of no concern to it */
  CHECK_EQ(seen.count, 0, "held back");
  OK(cuMemcpyDtoH_v2(&word, p + 64, 4));
  CHECK_EQ(word, 0, "a fill behind it");
  OK(cuMemsetD32_v2(p, 7, 1));
  OK(cuStreamSynchronize(other));
  CHECK_EQ(seen.count, 2, "both ran");
  CHECK(seen.order[0] == 1 && seen.order[1] == 2, "in order");
  OK(cuMemcpyDtoH_v2(&word, p + 64, 4));
  CHECK_EQ(word, 5, "the fill came after");
  OK(cuEventQuery(e));
  OK(cuStreamDestroy_v2(s));
  OK(cuStreamDestroy_v2(other));
  OK(cuEventDestroy_v2(e));
  OK(cuMemFree_v2(p));
}

static void *hammer(void *ctx) {
  CUevent e = NULL;
  OK(cuCtxSetCurrent(ctx));
  OK(cuEventCreate(&e, 0));
  for (int i = 0; i < 2000; i++) {
    if (cuLaunchKernel_ptsz(timed, 1, 1, 1, 1, 1, 1, 0, NULL, (void *[]){&(uint64_t){1000}}, NULL) != CUDA_SUCCESS) return ctx;
    if (i % 100 == 0 && (cuEventRecord_ptsz(e, NULL) != CUDA_SUCCESS || cuEventSynchronize(e) != CUDA_SUCCESS)) return ctx;
  }
  OK(cuStreamSynchronize_ptsz(NULL));
  OK(cuEventDestroy_v2(e));
  return NULL;
}

static void many_threads(CUcontext ctx) {
  pthread_t threads[8];
  for (int i = 0; i < 8; i++) CHECK_EQ(pthread_create(&threads[i], NULL, hammer, ctx), 0, "thread");
  for (int i = 0; i < 8; i++) {
    void *failed = NULL;
    (void)pthread_join(threads[i], &failed);
    CHECK(failed == NULL, "thread %d", i);
  }
  OK(cuCtxSynchronize());
}

int main(void) {
  CUcontext ctx = test_context();
  CUlibrary library = NULL;
  CUkernel kernel = NULL;
  int regs = 0, blocks = 0;
  spin = test_kernel("vgpu-fake-kernel name=spin ns=1000000\nvgpu-fake-kernel name=timed argument=0\n", "spin");
  OK(cuLibraryLoadData(&library, "vgpu-fake-kernel name=timed argument=0", NULL, NULL, 0, NULL, NULL, 0));
  REFUSED(cuLibraryGetKernel(&kernel, library, "other"), CUDA_ERROR_NOT_FOUND);
  OK(cuLibraryGetKernel(&kernel, library, "timed"));
  OK(cuKernelGetFunction(&timed, kernel));
  OK(cuFuncGetAttribute(&regs, 4, timed));
  OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, timed, 256, 0));
  CHECK_EQ(blocks, 8, "blocks of 256 threads");
  events_tell_the_cards_time();
  an_argument_can_say_the_length();
  host_functions_hold_their_stream();
  many_threads(ctx);
  OK(cuLibraryUnload(library));
  return check_result();
}
