/* Graphs and streams that record: what runs, what it takes, and which calls break a recording. */
#include <pthread.h>

#include "cuda_calls.h"

#define MIB (UINT64_C(1) << 20)

static CUfunction spin;

static uint64_t used(void) {
  size_t available = 0, total = 0;
  OK(cuMemGetInfo_v2(&available, &total));
  return total - available;
}

struct launch {
  CUgraphExec exec;
  CUstream stream;
};
static void launch(void *data) {
  const struct launch *l = data;
  OK(cuGraphLaunch(l->exec, l->stream));
}

static void count(void *data) { ++*(int *)data; }

static void by_hand(CUstream s) {
  CUgraph g = NULL;
  CUgraphNode a = NULL, b = NULL, c = NULL;
  CUgraphExec exec = NULL;
  int calls = 0;
  size_t nodes = 0;
  CUDA_KERNEL_NODE_PARAMS k = {spin, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL, NULL};
  OK(cuGraphCreate(&g, 0));
  OK(cuGraphAddKernelNode_v2(&a, g, NULL, 0, &k));
  OK(cuGraphAddHostNode(&b, g, &a, 1, &(CUDA_HOST_NODE_PARAMS){count, &calls}));
  OK(cuGraphAddKernelNode_v2(&c, g, &b, 1, &k));
  OK(cuGraphGetNodes(g, NULL, &nodes));
  CHECK_EQ(nodes, 3, "nodes");
  OK(cuGraphInstantiateWithFlags(&exec, g, 0));
  OK(cuGraphDestroy(g));
  OK(cuGraphLaunch(exec, s));
  OK(cuGraphLaunch(exec, s));
  OK(cuStreamSynchronize(s));
  CHECK_EQ(calls, 2, "the host node ran with each launch");
  OK(cuGraphExecDestroy(exec));
}

static void recorded(CUstream s, CUstream other) {
  CUgraph g = NULL;
  CUgraphExec exec = NULL;
  CUevent fork = NULL, join = NULL;
  CUstreamCaptureStatus status;
  CUdeviceptr p = 0;
  unsigned word = 1;
  OK(cuEventCreate(&fork, CU_EVENT_DISABLE_TIMING));
  OK(cuEventCreate(&join, CU_EVENT_DISABLE_TIMING));
  OK(cuMemAlloc_v2(&p, 64));
  OK(cuMemsetD32_v2(p, 1, 1));
  OK(cuStreamBeginCapture_v2(s, CU_STREAM_CAPTURE_MODE_GLOBAL));
  OK(test_launch(spin, s));
  OK(cuEventRecord(fork, s));
  OK(cuStreamWaitEvent(other, fork, 0));
  OK(test_launch(spin, other));
  OK(cuStreamIsCapturing(other, &status));
  CHECK_EQ(status, CU_STREAM_CAPTURE_STATUS_ACTIVE, "a stream that waited joined");
  OK(cuMemsetD32Async(p, 2, 1, other));
  OK(cuEventRecord(join, other));
  OK(cuStreamWaitEvent(s, join, 0));
  OK(cuStreamEndCapture(s, &g));
  OK(cuMemcpyDtoH_v2(&word, p, 4));
  CHECK_EQ(word, 1, "nothing ran while recording");
  OK(cuStreamIsCapturing(other, &status));
  CHECK_EQ(status, CU_STREAM_CAPTURE_STATUS_NONE, "over");
  OK(cuGraphInstantiateWithFlags(&exec, g, 0));
  struct launch l = {exec, s};
  double least = test_milliseconds(launch, &l, s);
  CHECK_MS(least, 2.0);
  OK(cuMemcpyDtoH_v2(&word, p, 4));
  CHECK_EQ(word, 2, "the fill ran");
  OK(cuGraphExecDestroy(exec));
  OK(cuGraphDestroy(g));
  OK(cuEventDestroy_v2(fork));
  OK(cuEventDestroy_v2(join));
  OK(cuMemFree_v2(p));
}

static void graph_memory(CUstream s) {
  CUgraph g = NULL;
  CUgraphExec exec = NULL;
  CUdeviceptr p = 0;
  uint64_t before = used(), reserved = 0;
  OK(cuStreamBeginCapture_v2(s, CU_STREAM_CAPTURE_MODE_RELAXED));
  OK(cuMemAllocAsync(&p, 40 * MIB, s));
  OK(test_launch(spin, s));
  OK(cuMemFreeAsync(p, s));
  OK(cuStreamEndCapture(s, &g));
  OK(cuGraphInstantiateWithFlags(&exec, g, 0));
  CHECK_EQ(used(), before, "no memory before the first launch");
  OK(cuGraphLaunch(exec, s));
  OK(cuStreamSynchronize(s));
  CHECK_EQ(used() - before, 64 * MIB, "memory of the first launch stays");
  OK(cuDeviceGetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT, &reserved));
  CHECK_EQ(reserved, 64 * MIB, "reserved for graphs");
  OK(cuGraphExecDestroy(exec));
  OK(cuGraphDestroy(g));
  OK(cuDeviceGraphMemTrim(0));
  CHECK_EQ(used(), before, "trimmed");
}

/* Freed outside, the memory is there again at the next launch. */
static void graph_memory_freed_outside(CUstream s) {
  CUgraph g = NULL;
  CUgraphExec exec = NULL;
  CUdeviceptr p = 0;
  uint64_t in_use = 1;
  OK(cuStreamBeginCapture_v2(s, CU_STREAM_CAPTURE_MODE_RELAXED));
  OK(cuMemAllocAsync(&p, MIB, s));
  OK(cuMemsetD32Async(p, 3, 4, s));
  OK(cuStreamEndCapture(s, &g));
  OK(cuGraphInstantiateWithFlags(&exec, g, 0));
  for (int i = 0; i < 2; i++) {
    OK(cuGraphLaunch(exec, s));
    OK(cuDeviceGetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT, &in_use));
    CHECK_EQ(in_use, MIB, "in use");
    OK(i == 0 ? cuMemFreeAsync(p, s) : cuMemFree_v2(p));
    OK(cuDeviceGetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT, &in_use));
    CHECK_EQ(in_use, 0, "free");
  }
  OK(cuGraphExecDestroy(exec));
  OK(cuGraphDestroy(g));
  OK(cuDeviceGraphMemTrim(0));
}

static CUevent watched;
static void *watch(void *mode) {
  if (mode != NULL) OK(cuThreadExchangeStreamCaptureMode(mode));
  return (void *)(intptr_t)cuEventQuery(watched);
}

static CUresult query_elsewhere(CUstreamCaptureMode *mode) {
  pthread_t t;
  void *result = NULL;
  CHECK_EQ(pthread_create(&t, NULL, watch, mode), 0, "thread");
  (void)pthread_join(t, &result);
  return (CUresult)(intptr_t)result;
}

/* A query of another thread breaks a recording in global mode, unless that thread has said it is relaxed. */
static void what_breaks_a_recording(CUstream s) {
  CUgraph g = NULL;
  CUdeviceptr p = 0;
  CUstreamCaptureStatus status;
  CUstreamCaptureMode relaxed = CU_STREAM_CAPTURE_MODE_RELAXED;
  OK(cuEventCreate(&watched, 0));
  OK(cuStreamBeginCapture_v2(s, CU_STREAM_CAPTURE_MODE_GLOBAL));
  CHECK_EQ(query_elsewhere(&relaxed), CUDA_SUCCESS, "relaxed");
  CHECK_EQ(relaxed, CU_STREAM_CAPTURE_MODE_GLOBAL, "its mode before");
  OK(cuStreamEndCapture(s, &g));
  OK(cuGraphDestroy(g));
  OK(cuStreamBeginCapture_v2(s, CU_STREAM_CAPTURE_MODE_GLOBAL));
  CHECK_EQ(query_elsewhere(NULL), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "not relaxed");
  OK(cuStreamIsCapturing(s, &status));
  CHECK_EQ(status, CU_STREAM_CAPTURE_STATUS_INVALIDATED, "broken");
  REFUSED(cuStreamEndCapture(s, &g), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  OK(cuStreamBeginCapture_v2(s, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
  CHECK_EQ(query_elsewhere(NULL), CUDA_SUCCESS, "another thread's recording is its own");
  REFUSED(cuMemAlloc_v2(&p, 64), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  REFUSED(cuStreamEndCapture(s, &g), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  OK(cuEventDestroy_v2(watched));
}

static void the_legacy_stream_may_not_join(void) {
  CUstream s = NULL;
  CUgraph g = NULL;
  CUstreamCaptureStatus status;
  OK(cuStreamCreate(&s, 0)); /* blocking */
  OK(cuStreamBeginCapture_v2(s, CU_STREAM_CAPTURE_MODE_RELAXED));
  REFUSED(cuStreamIsCapturing(NULL, &status), CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
  OK(cuStreamIsCapturing(s, &status));
  CHECK_EQ(status, CU_STREAM_CAPTURE_STATUS_ACTIVE, "asking breaks nothing");
  REFUSED(test_launch(spin, NULL), CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
  REFUSED(cuStreamEndCapture(s, &g), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  REFUSED(cuStreamBeginCapture_v2(NULL, CU_STREAM_CAPTURE_MODE_RELAXED), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  OK(cuStreamDestroy_v2(s));
}

int main(void) {
  CUstream s = NULL, other = NULL;
  (void)test_context();
  spin = test_kernel("vgpu-fake-kernel name=spin ns=1000000", "spin");
  OK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
  OK(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
  by_hand(s);
  recorded(s, other);
  graph_memory(s);
  graph_memory_freed_outside(s);
  what_breaks_a_recording(s);
  the_legacy_stream_may_not_join();
  OK(test_launch(spin, NULL)); /* all is as before */
  OK(cuCtxSynchronize());
  OK(cuStreamDestroy_v2(s));
  OK(cuStreamDestroy_v2(other));
  return check_result();
}
