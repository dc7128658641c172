/* The driver calls that the tests make, as the fake exports them, and what every test begins with. */
#ifndef VGPU_TEST_CUDA_CALLS_H
#define VGPU_TEST_CUDA_CALLS_H

#include <stdbool.h>
#include <stdlib.h>

#include "check.h"
#include "cuda_more.h"

#define CU(name, base, since, flavor, class, params, args) CUresult name params;
#define NV(name, class, params, args)
#define PASS(name, reason)
#include "hooks.def"
#undef CU
#undef NV
#undef PASS

CUresult cuCtxGetCurrent(CUcontext *ctx);
CUresult cuCtxGetDevice(CUdevice *device);
CUresult cuCtxPopCurrent_v2(CUcontext *ctx);
CUresult cuCtxPushCurrent_v2(CUcontext ctx);
CUresult cuCtxSetCurrent(CUcontext ctx);
CUresult cuDeviceGet(CUdevice *device, int ordinal);
CUresult cuDeviceGetAttribute(int *value, int which, CUdevice device);
CUresult cuDeviceGetCount(int *count);
CUresult cuDeviceGetDefaultMemPool(CUmemoryPool *pool, CUdevice device);
CUresult cuDeviceGetGraphMemAttribute(CUdevice device, CUgraphMem_attribute which, void *value);
CUresult cuDeviceGetMemPool(CUmemoryPool *pool, CUdevice device);
CUresult cuDeviceGetName(char *name, int length, CUdevice device);
CUresult cuDeviceGetUuid_v2(CUuuid *uuid, CUdevice device);
CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned int *flags, int *active);
CUresult cuDriverGetVersion(int *version);
CUresult cuDriverGetVersion(int *version);
CUresult cuEventCreate(CUevent *event, unsigned int flags);
CUresult cuEventDestroy_v2(CUevent event);
CUresult cuEventElapsedTime(float *ms, CUevent start, CUevent end);
CUresult cuEventQuery(CUevent event);
CUresult cuEventRecord(CUevent event, CUstream stream);
CUresult cuEventRecord_ptsz(CUevent event, CUstream stream);
CUresult cuFuncGetAttribute(int *value, int which, CUfunction f);
CUresult cuGetErrorName(CUresult error, const char **name);
CUresult cuGraphAddHostNode(CUgraphNode *node, CUgraph g, const CUgraphNode *before, size_t count,
                            const CUDA_HOST_NODE_PARAMS *p);
CUresult cuGraphAddKernelNode_v2(CUgraphNode *node, CUgraph g, const CUgraphNode *before, size_t count,
                                 const CUDA_KERNEL_NODE_PARAMS *p);
CUresult cuGraphAddMemFreeNode(CUgraphNode *node, CUgraph g, const CUgraphNode *before, size_t count, CUdeviceptr dptr);
CUresult cuGraphCreate(CUgraph *graph, unsigned int flags);
CUresult cuGraphDestroy(CUgraph graph);
CUresult cuGraphExecUpdate_v2(CUgraphExec exec, CUgraph graph, CUgraphExecUpdateResultInfo *info);
CUresult cuGraphGetNodes(CUgraph g, CUgraphNode *nodes, size_t *count);
CUresult cuGraphInstantiateWithFlags(CUgraphExec *exec, CUgraph graph, unsigned long long flags);
CUresult cuKernelGetFunction(CUfunction *f, CUkernel kernel);
CUresult cuLaunchHostFunc(CUstream stream, CUhostFn fn, void *data);
CUresult cuLibraryGetKernel(CUkernel *kernel, CUlibrary library, const char *name);
CUresult cuLibraryLoadData(CUlibrary *library, const void *code, int *jit, void **jit_values, unsigned int jit_count,
                           int *options, void **option_values, unsigned int option_count);
CUresult cuLibraryUnload(CUlibrary library);
CUresult cuMemAddressFree(CUdeviceptr ptr, size_t size);
CUresult cuMemAddressReserve(CUdeviceptr *ptr, size_t size, size_t alignment, CUdeviceptr hint, unsigned long long flags);
CUresult cuMemGetAddressRange_v2(CUdeviceptr *base, size_t *size, CUdeviceptr dptr);
CUresult cuMemGetAllocationGranularity(size_t *granularity, const CUmemAllocationProp *prop, int option);
CUresult cuMemPoolGetAttribute(CUmemoryPool pool, CUmemPool_attribute which, void *value);
CUresult cuMemSetAccess(CUdeviceptr ptr, size_t size, const CUmemAccessDesc *desc, size_t count);
CUresult cuMemcpy2D_v2(const CUDA_MEMCPY2D *copy);
CUresult cuMemcpyAtoH_v2(void *to, CUarray from, size_t offset, size_t size);
CUresult cuMemcpyDtoD_v2(CUdeviceptr to, CUdeviceptr from, size_t size);
CUresult cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, size_t size, CUstream stream);
CUresult cuMemcpyHtoA_v2(CUarray to, size_t offset, const void *from, size_t size);
CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from, size_t size, CUstream stream);
CUresult cuMemsetD32Async(CUdeviceptr to, unsigned int value, size_t n, CUstream stream);
CUresult cuMemsetD32_v2(CUdeviceptr to, unsigned int value, size_t n);
CUresult cuMemsetD8_v2(CUdeviceptr to, unsigned char value, size_t n);
CUresult cuMipmappedArrayGetLevel(CUarray *level, CUmipmappedArray array, unsigned int which);
CUresult cuModuleGetFunction(CUfunction *f, CUmodule module, const char *name);
CUresult cuModuleLoadData(CUmodule *module, const void *image);
CUresult cuModuleUnload(CUmodule module);
CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, CUfunction f, int block_size, size_t shared);
CUresult cuPointerGetAttribute(void *data, int which, CUdeviceptr ptr);
CUresult cuPointerGetAttributes(unsigned int count, int *which, void **data, CUdeviceptr ptr);
CUresult cuStreamCreate(CUstream *stream, unsigned int flags);
CUresult cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus *status);
CUresult cuStreamQuery(CUstream stream);
CUresult cuStreamQuery_ptsz(CUstream stream);
CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned int flags);
CUresult cuStreamWaitValue32_v2(CUstream stream, CUdeviceptr address, uint32_t value, unsigned int flags);
CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode);
unsigned long long fakeCudaCalls(const char *name);

#define OK(call) CHECK_EQ(call, CUDA_SUCCESS, #call)
#define REFUSED(call, code) CHECK_EQ(call, code, #call)

/* Initialised, with device 0's primary context current. */
static inline CUcontext test_context(void) {
  CUcontext ctx = NULL;
  OK(cuInit(0));
  OK(cuDevicePrimaryCtxRetain(&ctx, 0));
  OK(cuCtxSetCurrent(ctx));
  return ctx;
}

static inline CUfunction test_kernel(const char *text, const char *name) {
  CUmodule module = NULL;
  CUfunction f = NULL;
  OK(cuModuleLoadData(&module, text));
  OK(cuModuleGetFunction(&f, module, name));
  return f;
}

static inline CUresult test_launch(CUfunction f, CUstream stream) {
  return cuLaunchKernel(f, 132, 1, 1, 256, 1, 1, 0, stream, NULL, NULL);
}

/*
 * Card time between two events around `work`. What the card does is exact, but a busy machine may keep this thread from
 * queueing for a while, and the card then waits: so the least of several tries counts.
 */
static inline double test_milliseconds(void (*work)(void *), void *data, CUstream stream) {
  double least = 1e9;
  CUevent a = NULL, b = NULL;
  float ms = 0;
  OK(cuEventCreate(&a, 0));
  OK(cuEventCreate(&b, 0));
  for (int i = 0; i < 10; i++) {
    OK(cuEventRecord(a, stream));
    work(data);
    OK(cuEventRecord(b, stream));
    OK(cuEventSynchronize(b));
    OK(cuEventElapsedTime(&ms, a, b));
    if ((double)ms < least) least = (double)ms;
  }
  OK(cuEventDestroy_v2(a));
  OK(cuEventDestroy_v2(b));
  return least;
}

#define CHECK_MS(got, wanted) CHECK((got) >= (wanted) && (got) < (wanted) + 0.1, "%f ms, not %f", (got), (double)(wanted))

#endif
