/* Allocation and release in stream order, also while a stream records. */
#include "driver.h"

static CUresult alloc(CUmemoryPool pool, CUdeviceptr *dptr, size_t size, CUstream stream, bool per_thread) {
  struct CUstream_st *s = stream_of(stream, per_thread);
  if (s == NULL) return context_current() == NULL ? CUDA_ERROR_INVALID_CONTEXT : CUDA_ERROR_INVALID_HANDLE;
  return s->capture != NULL ? capture_alloc(s, dptr, size) : pool_alloc(pool, dptr, size, s);
}

static CUresult do_cuMemAllocAsync(CUdeviceptr *dptr, size_t size, CUstream stream, bool per_thread) {
  return alloc(NULL, dptr, size, stream, per_thread);
}
STREAM_PAIR(cuMemAllocAsync, (CUdeviceptr * dptr, size_t size, CUstream stream), dptr, size, stream)

static CUresult do_cuMemAllocFromPoolAsync(CUdeviceptr *dptr, size_t size, CUmemoryPool pool, CUstream stream,
                                           bool per_thread) {
  return pool == NULL ? CUDA_ERROR_INVALID_VALUE : alloc(pool, dptr, size, stream, per_thread);
}
STREAM_PAIR(cuMemAllocFromPoolAsync, (CUdeviceptr * dptr, size_t size, CUmemoryPool pool, CUstream stream), dptr, size, pool,
            stream)

static CUresult do_cuMemFreeAsync(CUdeviceptr dptr, CUstream stream, bool per_thread) {
  struct memory m;
  struct CUstream_st *s = stream_of(stream, per_thread);
  if (s == NULL) return context_current() == NULL ? CUDA_ERROR_INVALID_CONTEXT : CUDA_ERROR_INVALID_HANDLE;
  if (s->capture != NULL) return capture_free(s, dptr);
  if (dptr == 0) return CUDA_SUCCESS;
  CUresult implicit = capture_legacy(s);
  if (implicit != CUDA_SUCCESS) return implicit;
  if (memory_find(dptr, &m) && m.at == dptr && m.kind == MEMORY_GRAPH) return memory_free_graph(&m);
  bool ours = memory_find(dptr, &m) && m.at == dptr && (m.kind == MEMORY_POOL || m.kind == MEMORY_DEVICE);
  return ours && memory_remove(dptr, &m) ? memory_release(&m) : CUDA_ERROR_INVALID_VALUE;
}
STREAM_PAIR(cuMemFreeAsync, (CUdeviceptr dptr, CUstream stream), dptr, stream)
