/* The families of copies. A copy that does not name a stream waits for what its default stream has to do before. */
#include "move.h"

static CUresult start(const struct move *m, CUstream stream, bool per_thread, bool wait) {
  struct move copy = *m;
  struct CUstream_st *s = stream_of(stream, per_thread);
  if (s == NULL) return context_current() == NULL ? CUDA_ERROR_INVALID_CONTEXT : CUDA_ERROR_INVALID_HANDLE;
  if (!wait) return stream_call(s, move_run, &copy, sizeof copy);
  if (s->capture != NULL) return capture_break(s);
  CUresult no = capture_legacy(s);
  if (no == CUDA_SUCCESS) no = capture_unsafe();
  if (no != CUDA_SUCCESS) return no;
  stream_wait(s);
  move_run(&copy);
  return CUDA_SUCCESS;
}

static CUresult move_3d(const CUDA_MEMCPY3D *p, CUstream stream, bool per_thread, bool wait) {
  struct move m;
  CUresult result = move_of_3d(p, &m);
  return result == CUDA_SUCCESS ? start(&m, stream, per_thread, wait) : result;
}

static CUresult move_2d(const CUDA_MEMCPY2D *p, CUstream stream, bool per_thread, bool wait) {
  if (p == NULL) return CUDA_ERROR_INVALID_VALUE;
  CUDA_MEMCPY3D q = {.srcXInBytes = p->srcXInBytes,
                     .srcY = p->srcY,
                     .srcMemoryType = p->srcMemoryType,
                     .srcHost = p->srcHost,
                     .srcDevice = p->srcDevice,
                     .srcArray = p->srcArray,
                     .srcPitch = p->srcPitch,
                     .dstXInBytes = p->dstXInBytes,
                     .dstY = p->dstY,
                     .dstMemoryType = p->dstMemoryType,
                     .dstHost = p->dstHost,
                     .dstDevice = p->dstDevice,
                     .dstArray = p->dstArray,
                     .dstPitch = p->dstPitch,
                     .WidthInBytes = p->WidthInBytes,
                     .Height = p->Height,
                     .Depth = 1};
  return move_3d(&q, stream, per_thread, wait);
}

/* One row between two memories. */
static CUresult move_1d(int to_type, uint64_t to, int from_type, uint64_t from, size_t bytes, CUstream stream, bool per_thread,
                        bool wait) {
  if (bytes == 0) return CUDA_SUCCESS;
  CUDA_MEMCPY3D q = {.srcMemoryType = from_type,
                     .srcHost = (const void *)(uintptr_t)from,
                     .srcDevice = from,
                     .dstMemoryType = to_type,
                     .dstHost = (void *)(uintptr_t)to,
                     .dstDevice = to,
                     .WidthInBytes = bytes,
                     .Height = 1,
                     .Depth = 1};
  return move_3d(&q, stream, per_thread, wait);
}

enum { HOST = CU_MEMORYTYPE_HOST, DEVICE = CU_MEMORYTYPE_DEVICE, ANY = CU_MEMORYTYPE_UNIFIED };
#define AT(pointer) ((uint64_t)(uintptr_t)(pointer))

#define ROW(name, to_type, to_decl, from_type, from_decl)                               \
  static CUresult do_##name(to_decl, from_decl, size_t size, bool per_thread) {         \
    return move_1d(to_type, AT(to), from_type, AT(from), size, NULL, per_thread, true); \
  }                                                                                     \
  DEFAULT_PAIR(name, (to_decl, from_decl, size_t size), to, from, size)
#define ROW_ASYNC(name, to_type, to_decl, from_type, from_decl)                                  \
  static CUresult do_##name(to_decl, from_decl, size_t size, CUstream stream, bool per_thread) { \
    return move_1d(to_type, AT(to), from_type, AT(from), size, stream, per_thread, false);       \
  }                                                                                              \
  STREAM_PAIR(name, (to_decl, from_decl, size_t size, CUstream stream), to, from, size, stream)

ROW(cuMemcpy, ANY, CUdeviceptr to, ANY, CUdeviceptr from)
ROW(cuMemcpyHtoD_v2, DEVICE, CUdeviceptr to, HOST, const void *from)
ROW(cuMemcpyDtoH_v2, HOST, void *to, DEVICE, CUdeviceptr from)
ROW(cuMemcpyDtoD_v2, DEVICE, CUdeviceptr to, DEVICE, CUdeviceptr from)
ROW_ASYNC(cuMemcpyAsync, ANY, CUdeviceptr to, ANY, CUdeviceptr from)
ROW_ASYNC(cuMemcpyHtoDAsync_v2, DEVICE, CUdeviceptr to, HOST, const void *from)
ROW_ASYNC(cuMemcpyDtoHAsync_v2, HOST, void *to, DEVICE, CUdeviceptr from)
ROW_ASYNC(cuMemcpyDtoDAsync_v2, DEVICE, CUdeviceptr to, DEVICE, CUdeviceptr from)

static CUresult do_cuMemcpyPeer(CUdeviceptr to, CUcontext to_ctx, CUdeviceptr from, CUcontext from_ctx, size_t size,
                                bool per_thread) {
  if (!context_valid(to_ctx) || !context_valid(from_ctx)) return CUDA_ERROR_INVALID_CONTEXT;
  return move_1d(DEVICE, to, DEVICE, from, size, NULL, per_thread, true);
}
DEFAULT_PAIR(cuMemcpyPeer, (CUdeviceptr to, CUcontext to_ctx, CUdeviceptr from, CUcontext from_ctx, size_t size), to, to_ctx,
             from, from_ctx, size)

static CUresult do_cuMemcpyPeerAsync(CUdeviceptr to, CUcontext to_ctx, CUdeviceptr from, CUcontext from_ctx, size_t size,
                                     CUstream stream, bool per_thread) {
  if (!context_valid(to_ctx) || !context_valid(from_ctx)) return CUDA_ERROR_INVALID_CONTEXT;
  return move_1d(DEVICE, to, DEVICE, from, size, stream, per_thread, false);
}
STREAM_PAIR(cuMemcpyPeerAsync,
            (CUdeviceptr to, CUcontext to_ctx, CUdeviceptr from, CUcontext from_ctx, size_t size, CUstream stream), to, to_ctx,
            from, from_ctx, size, stream)

static CUresult do_cuMemcpy2D_v2(const CUDA_MEMCPY2D *copy, bool per_thread) { return move_2d(copy, NULL, per_thread, true); }
DEFAULT_PAIR(cuMemcpy2D_v2, (const CUDA_MEMCPY2D *copy), copy)
static CUresult do_cuMemcpy2DUnaligned_v2(const CUDA_MEMCPY2D *copy, bool per_thread) {
  return move_2d(copy, NULL, per_thread, true);
}
DEFAULT_PAIR(cuMemcpy2DUnaligned_v2, (const CUDA_MEMCPY2D *copy), copy)
static CUresult do_cuMemcpy3D_v2(const CUDA_MEMCPY3D *copy, bool per_thread) { return move_3d(copy, NULL, per_thread, true); }
DEFAULT_PAIR(cuMemcpy3D_v2, (const CUDA_MEMCPY3D *copy), copy)
static CUresult do_cuMemcpy2DAsync_v2(const CUDA_MEMCPY2D *copy, CUstream stream, bool per_thread) {
  return move_2d(copy, stream, per_thread, false);
}
STREAM_PAIR(cuMemcpy2DAsync_v2, (const CUDA_MEMCPY2D *copy, CUstream stream), copy, stream)
static CUresult do_cuMemcpy3DAsync_v2(const CUDA_MEMCPY3D *copy, CUstream stream, bool per_thread) {
  return move_3d(copy, stream, per_thread, false);
}
STREAM_PAIR(cuMemcpy3DAsync_v2, (const CUDA_MEMCPY3D *copy, CUstream stream), copy, stream)

/* ---- between an array and a row -------------------------------------------------------------------------------------------- */

static CUresult array_row(CUarray to_array, size_t to_offset, CUarray from_array, size_t from_offset, int type, uint64_t row,
                          size_t bytes, CUstream stream, bool per_thread, bool wait) {
  CUDA_MEMCPY3D q = {.srcMemoryType = from_array != NULL ? CU_MEMORYTYPE_ARRAY : type,
                     .srcArray = from_array,
                     .srcXInBytes = from_offset,
                     .srcHost = (const void *)(uintptr_t)row,
                     .srcDevice = row,
                     .dstMemoryType = to_array != NULL ? CU_MEMORYTYPE_ARRAY : type,
                     .dstArray = to_array,
                     .dstXInBytes = to_offset,
                     .dstHost = (void *)(uintptr_t)row,
                     .dstDevice = row,
                     .WidthInBytes = bytes,
                     .Height = 1,
                     .Depth = 1};
  return move_3d(&q, stream, per_thread, wait);
}

static CUresult do_cuMemcpyHtoA_v2(CUarray to, size_t offset, const void *from, size_t size, bool per_thread) {
  return array_row(to, offset, NULL, 0, HOST, AT(from), size, NULL, per_thread, true);
}
DEFAULT_PAIR(cuMemcpyHtoA_v2, (CUarray to, size_t offset, const void *from, size_t size), to, offset, from, size)
static CUresult do_cuMemcpyAtoH_v2(void *to, CUarray from, size_t offset, size_t size, bool per_thread) {
  return array_row(NULL, 0, from, offset, HOST, AT(to), size, NULL, per_thread, true);
}
DEFAULT_PAIR(cuMemcpyAtoH_v2, (void *to, CUarray from, size_t offset, size_t size), to, from, offset, size)
static CUresult do_cuMemcpyDtoA_v2(CUarray to, size_t offset, CUdeviceptr from, size_t size, bool per_thread) {
  return array_row(to, offset, NULL, 0, DEVICE, from, size, NULL, per_thread, true);
}
DEFAULT_PAIR(cuMemcpyDtoA_v2, (CUarray to, size_t offset, CUdeviceptr from, size_t size), to, offset, from, size)
static CUresult do_cuMemcpyAtoD_v2(CUdeviceptr to, CUarray from, size_t offset, size_t size, bool per_thread) {
  return array_row(NULL, 0, from, offset, DEVICE, to, size, NULL, per_thread, true);
}
DEFAULT_PAIR(cuMemcpyAtoD_v2, (CUdeviceptr to, CUarray from, size_t offset, size_t size), to, from, offset, size)
static CUresult do_cuMemcpyAtoA_v2(CUarray to, size_t to_offset, CUarray from, size_t from_offset, size_t size,
                                   bool per_thread) {
  return array_row(to, to_offset, from, from_offset, 0, 0, size, NULL, per_thread, true);
}
DEFAULT_PAIR(cuMemcpyAtoA_v2, (CUarray to, size_t to_offset, CUarray from, size_t from_offset, size_t size), to, to_offset,
             from, from_offset, size)

/* ---- fills ------------------------------------------------------------------------------------------------------------------ */

static CUresult fill(CUdeviceptr to, size_t pitch, unsigned value, unsigned element, size_t width, size_t height,
                     CUstream stream, bool per_thread, bool wait) {
  struct move m;
  CUresult result = move_of_fill(to, pitch, value, element, width, height, &m);
  return result == CUDA_SUCCESS ? start(&m, stream, per_thread, wait) : result;
}

#define FILL(bits, type)                                                                                                      \
  static CUresult do_cuMemsetD##bits##_v2(CUdeviceptr to, type value, size_t n, bool pt) {                                    \
    return fill(to, 0, value, bits / 8, n, 1, NULL, pt, true);                                                                \
  }                                                                                                                           \
  DEFAULT_PAIR(cuMemsetD##bits##_v2, (CUdeviceptr to, type value, size_t n), to, value, n)                                    \
  static CUresult do_cuMemsetD##bits##Async(CUdeviceptr to, type value, size_t n, CUstream stream, bool pt) {                 \
    return fill(to, 0, value, bits / 8, n, 1, stream, pt, false);                                                             \
  }                                                                                                                           \
  STREAM_PAIR(cuMemsetD##bits##Async, (CUdeviceptr to, type value, size_t n, CUstream stream), to, value, n, stream)          \
  static CUresult do_cuMemsetD2D##bits##_v2(CUdeviceptr to, size_t pitch, type value, size_t width, size_t height, bool pt) { \
    return fill(to, pitch, value, bits / 8, width, height, NULL, pt, true);                                                   \
  }                                                                                                                           \
  DEFAULT_PAIR(cuMemsetD2D##bits##_v2, (CUdeviceptr to, size_t pitch, type value, size_t width, size_t height), to, pitch,    \
               value, width, height)                                                                                          \
  static CUresult do_cuMemsetD2D##bits##Async(CUdeviceptr to, size_t pitch, type value, size_t width, size_t height,          \
                                              CUstream stream, bool pt) {                                                     \
    return fill(to, pitch, value, bits / 8, width, height, stream, pt, false);                                                \
  }                                                                                                                           \
  STREAM_PAIR(cuMemsetD2D##bits##Async,                                                                                       \
              (CUdeviceptr to, size_t pitch, type value, size_t width, size_t height, CUstream stream), to, pitch, value,     \
              width, height, stream)
FILL(8, unsigned char)
FILL(16, unsigned short)
FILL(32, unsigned int)
