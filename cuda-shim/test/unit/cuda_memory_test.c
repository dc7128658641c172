/* Every kind of device memory: what the card is charged, what comes back, and that bytes are where they should be. */
#include <string.h>
#include <unistd.h>

#include "cuda_calls.h"

#define MIB (UINT64_C(1) << 20)
#define GIB (UINT64_C(1) << 30)

static uint64_t used(void) {
  size_t available = 0, total = 0;
  OK(cuMemGetInfo_v2(&available, &total));
  return total - available;
}

static void linear(void) {
  uint64_t before = used();
  CUdeviceptr p = 0, base = 0;
  size_t pitch = 0, size = 0;
  unsigned type = 0;
  OK(cuMemAlloc_v2(&p, 1000));
  CHECK_EQ(used() - before, 1024, "rounded to 512");
  OK(cuMemGetAddressRange_v2(&base, &size, p + 10));
  CHECK(base == p && size == 1000, "range of an address inside");
  OK(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, p + 10));
  CHECK_EQ(type, CU_MEMORYTYPE_DEVICE, "kind");
  REFUSED(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, 4096), CUDA_ERROR_INVALID_VALUE);
  REFUSED(cuMemFree_v2(p + 8), CUDA_ERROR_INVALID_VALUE);
  OK(cuMemFree_v2(p));
  OK(cuMemFree_v2(0));
  REFUSED(cuMemFree_v2(p), CUDA_ERROR_INVALID_VALUE);
  REFUSED(cuMemAlloc_v2(&p, 0), CUDA_ERROR_INVALID_VALUE);
  OK(cuMemAllocPitch_v2(&p, &pitch, 1000, 8, 4));
  CHECK_EQ(pitch, 1024, "pitch");
  CHECK_EQ(used() - before, 8 * 1024, "pitch times height");
  OK(cuMemFree_v2(p));
  OK(cuMemAlloc_v2(&p, 80 * GIB)); /* takes no memory of this machine */
  OK(cuMemsetD32_v2(p + 79 * GIB, 7, 16));
  REFUSED(cuMemAlloc_v2(&base, 70 * GIB), CUDA_ERROR_OUT_OF_MEMORY);
  OK(cuMemFree_v2(p));
  OK(cuMemAllocManaged(&p, GIB, CU_MEM_ATTACH_HOST));
  CHECK_EQ(used(), before, "managed memory is nobody's yet");
  OK(cuMemFree_v2(p));
}

static void copies(void) {
  CUdeviceptr a = 0, b = 0;
  char out[256], in[256];
  for (int i = 0; i < 256; i++) in[i] = (char)i;
  OK(cuMemAlloc_v2(&a, 256));
  OK(cuMemAlloc_v2(&b, 256));
  OK(cuMemcpyHtoD_v2(a, in, 256));
  OK(cuMemcpyDtoD_v2(b + 1, a, 255));
  OK(cuMemsetD8_v2(b, 9, 1));
  OK(cuMemcpyDtoH_v2(out, b, 256));
  CHECK(out[0] == 9 && memcmp(out + 1, in, 255) == 0, "bytes went astray");
  REFUSED(cuMemcpyDtoH_v2(out, b + 1, 256), CUDA_ERROR_INVALID_VALUE);
  CUDA_MEMCPY2D c = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                     .srcDevice = a,
                     .srcPitch = 16,
                     .srcXInBytes = 4,
                     .srcY = 1,
                     .dstMemoryType = CU_MEMORYTYPE_HOST,
                     .dstHost = out,
                     .dstPitch = 8,
                     .WidthInBytes = 8,
                     .Height = 3};
  OK(cuMemcpy2D_v2(&c));
  CHECK(out[0] == in[20] && out[8] == in[36] && out[23] == in[59], "rows of a box");
  OK(cuMemFree_v2(a));
  OK(cuMemFree_v2(b));
}

static void host(void) {
  void *p = NULL;
  static char mine[8192];
  uint64_t before = used();
  OK(cuMemHostAlloc(&p, 3 * MIB, 0));
  memset(p, 1, 3 * MIB);
  OK(cuMemHostRegister_v2(mine, sizeof mine, 0));
  REFUSED(cuMemHostRegister_v2(mine, 16, 0), CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
  CHECK_EQ(used(), before, "host memory is not the card's");
  OK(cuMemHostUnregister(mine));
  REFUSED(cuMemHostUnregister(mine), CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
  REFUSED(cuMemFree_v2((CUdeviceptr)(uintptr_t)p), CUDA_ERROR_INVALID_VALUE);
  OK(cuMemFreeHost(p));
}

static void arrays(void) {
  CUarray a = NULL;
  CUmipmappedArray m = NULL;
  uint64_t before = used();
  char out[8], in[8] = "array!";
  OK(cuArrayCreate_v2(&a, &(CUDA_ARRAY_DESCRIPTOR){100, 0, CU_AD_FORMAT_FLOAT, 4}));
  CHECK_EQ(used() - before, 2048, "100 × 16 bytes, rounded");
  OK(cuMemcpyHtoA_v2(a, 16, in, 8));
  OK(cuMemcpyAtoH_v2(out, a, 16, 8));
  CHECK(memcmp(in, out, 8) == 0, "bytes of an array");
  OK(cuArrayDestroy(a));
  OK(cuArray3DCreate_v2(&a, &(CUDA_ARRAY3D_DESCRIPTOR){64, 64, 6, CU_AD_FORMAT_UNSIGNED_INT8, 1, CUDA_ARRAY3D_CUBEMAP}));
  CHECK_EQ(used() - before, 64 * 64 * 6, "six faces");
  OK(cuArrayDestroy(a));
  OK(cuArray3DCreate_v2(&a,
                        &(CUDA_ARRAY3D_DESCRIPTOR){64, 64, 0, CU_AD_FORMAT_UNSIGNED_INT8, 1, CUDA_ARRAY3D_DEFERRED_MAPPING}));
  CHECK_EQ(used(), before, "deferred");
  OK(cuArrayDestroy(a));
  OK(cuMipmappedArrayCreate(&m, &(CUDA_ARRAY3D_DESCRIPTOR){64, 64, 0, CU_AD_FORMAT_FLOAT, 2, 0}, 3));
  CHECK_EQ(used() - before, 8 * (64 * 64 + 32 * 32 + 16 * 16), "three levels");
  OK(cuMipmappedArrayDestroy(m));
  CHECK_EQ(used(), before, "arrays came back");
}

static uint64_t pool_figure(CUmemoryPool pool, CUmemPool_attribute which) {
  uint64_t v = 0;
  OK(cuMemPoolGetAttribute(pool, which, &v));
  return v;
}

static void pools(void) {
  CUmemoryPool pool = NULL, own = NULL;
  CUdeviceptr a = 0, b = 0;
  uint64_t before = used(), keep = UINT64_MAX;
  OK(cuDeviceGetDefaultMemPool(&pool, 0));
  OK(cuMemAllocAsync(&a, 40 * MIB, NULL));
  OK(cuMemAllocAsync_ptsz(&b, MIB, NULL));
  CHECK_EQ(used() - before, 64 * MIB, "grown in steps of 32 MiB");
  CHECK_EQ(pool_figure(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT), 64 * MIB, "reserved");
  CHECK_EQ(pool_figure(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT), 41 * MIB, "used");
  OK(cuMemFreeAsync(a, NULL));
  CHECK_EQ(used() - before, 64 * MIB, "freed into the pool");
  OK(cuStreamSynchronize(NULL));
  CHECK_EQ(used() - before, 32 * MIB, "given back at a synchronisation");
  OK(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &keep));
  OK(cuMemFree_v2(b)); /* legal */
  OK(cuCtxSynchronize());
  CHECK_EQ(used() - before, 32 * MIB, "kept below the threshold");
  OK(cuMemPoolTrimTo(pool, 0));
  CHECK_EQ(used(), before, "trimmed");
  keep = 0;
  OK(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &keep));
  CUmemPoolProps props = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED, .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}};
  OK(cuMemPoolCreate(&own, &props));
  OK(cuMemAllocFromPoolAsync(&a, MIB, own, NULL));
  REFUSED(cuMemAllocFromPoolAsync(&b, 200 * GIB, own, NULL), CUDA_ERROR_OUT_OF_MEMORY);
  OK(cuMemFreeAsync(a, NULL));
  OK(cuMemPoolDestroy(own));
  CHECK_EQ(used(), before, "a destroyed pool");
}

static void virtual_memory(void) {
  uint64_t before = used();
  CUdeviceptr at = 0;
  size_t grain = 0;
  CUmemGenericAllocationHandle h = 0, again = 0, shared = 0;
  CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED, .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}};
  CUmemAccessDesc access = {.location = prop.location, .flags = 3};
  unsigned word = 0;
  int fd = -1;
  OK(cuMemGetAllocationGranularity(&grain, &prop, 0));
  CHECK_EQ(grain, 2 * MIB, "granularity");
  OK(cuMemAddressReserve(&at, 64 * grain, 0, 0, 0));
  CHECK_EQ(used(), before, "addresses are no memory");
  REFUSED(cuMemCreate(&h, grain + 1, &prop, 0), CUDA_ERROR_INVALID_VALUE);
  prop.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  OK(cuMemCreate(&h, 2 * grain, &prop, 0));
  CHECK_EQ(used() - before, 2 * grain, "created");
  OK(cuMemMap(at, 2 * grain, 0, h, 0));
  OK(cuMemSetAccess(at, 2 * grain, &access, 1));
  OK(cuMemsetD32_v2(at + grain, 42, 4));
  OK(cuMemExportToShareableHandle(&fd, h, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
  OK(cuMemImportFromShareableHandle(&shared, (void *)(intptr_t)fd, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
  OK(cuMemMap(at + 8 * grain, 2 * grain, 0, shared, 0));
  OK(cuMemcpyDtoH_v2(&word, at + 9 * grain, 4));
  CHECK_EQ(word, 42, "the import shows the same bytes");
  OK(cuMemRetainAllocationHandle(&again, (void *)(uintptr_t)at));
  OK(cuMemRelease(h));
  OK(cuMemRelease(again));
  CHECK_EQ(used() - before, 2 * grain, "mapped memory outlives its handle");
  OK(cuMemUnmap(at, 2 * grain));
  CHECK_EQ(used(), before, "the last unmap gives it back");
  OK(cuMemUnmap(at + 8 * grain, 2 * grain));
  OK(cuMemRelease(shared));
  (void)close(fd);
  OK(cuMemAddressFree(at, 64 * grain));
  REFUSED(cuMemRelease(0), CUDA_ERROR_INVALID_VALUE);
}

static void external(void) {
  CUexternalMemory m = NULL;
  int ends[2];
  CHECK_EQ(pipe(ends), 0, "any descriptor does");
  CUDA_EXTERNAL_MEMORY_HANDLE_DESC desc = {.type = CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD, .handle.fd = ends[0], .size = MIB};
  OK(cuImportExternalMemory(&m, &desc));
  REFUSED(cuImportExternalMemory(&m, &desc), CUDA_ERROR_INVALID_HANDLE); /* it took the descriptor */
  OK(cuDestroyExternalMemory(m));
  (void)close(ends[1]);
}

static void a_reset_frees_all(void) {
  CUcontext ctx = NULL;
  CUdeviceptr p = 0;
  OK(cuMemAlloc_v2(&p, 5 * MIB));
  OK(cuMemAllocAsync(&p, 5 * MIB, NULL));
  OK(cuMemAllocManaged(&p, 5 * MIB, CU_MEM_ATTACH_GLOBAL));
  OK(cuDevicePrimaryCtxReset_v2(0));
  OK(cuDevicePrimaryCtxRetain(&ctx, 0));
  OK(cuCtxSetCurrent(ctx));
}

int main(void) {
  CUipcMemHandle handle;
  CUdeviceptr p = 0, q = 0;
  (void)test_context();
  uint64_t before = used();
  linear();
  copies();
  host();
  arrays();
  pools();
  virtual_memory();
  external();
  a_reset_frees_all();
  OK(cuMemAlloc_v2(&p, 1 << 20));
  OK(cuIpcGetMemHandle(&handle, p));
  REFUSED(cuIpcOpenMemHandle_v2(&q, handle, 1), CUDA_ERROR_INVALID_CONTEXT); /* one's own */
  OK(cuMemFree_v2(p));
  CHECK_EQ(used(), before, "all came back");
  return check_result();
}
