#include "move.h"

static void fill_row(char *to, unsigned value, unsigned element, size_t width) {
  if (element == 1) {
    memset(to, (int)(value & 0xFF), width);
    return;
  }
  for (size_t i = 0; i + element <= width; i += element) memcpy(to + i, &value, element);
}

void move_run(void *data) {
  const struct move *m = data;
  for (size_t z = 0; z < m->depth; z++) {
    for (size_t y = 0; y < m->height; y++) {
      char *to = m->to + z * m->to_slice + y * m->to_pitch;
      if (m->from == NULL) {
        fill_row(to, m->value, m->element, m->width);
      } else {
        memmove(to, m->from + z * m->from_slice + y * m->from_pitch, m->width);
      }
    }
  }
}

/* Whether the range lies in what has been allocated, over several pieces that touch if need be. */
static bool covered(CUdeviceptr at, size_t bytes) {
  struct memory m;
  while (bytes > 0) {
    if (!memory_find(at, &m)) return false;
    size_t here = m.at + m.bytes - at;
    if (here >= bytes) return true;
    at += here;
    bytes -= here;
  }
  return true;
}

static size_t extent(size_t width, size_t height, size_t depth, size_t pitch, size_t slice) {
  return width == 0 || height == 0 || depth == 0 ? 0 : (depth - 1) * slice + (height - 1) * pitch + width;
}

/* One side of a copy. */
struct side {
  int type;
  const void *host;
  CUdeviceptr device;
  CUarray array;
  size_t x, y, z, pitch, rows;
};

static CUresult resolve(const struct side *s, const CUDA_MEMCPY3D *p, const char **at, size_t *pitch, size_t *slice) {
  size_t row = s->pitch == 0 ? p->WidthInBytes : s->pitch;
  *pitch = row;
  *slice = row * (s->rows == 0 ? p->Height : s->rows);
  size_t offset = s->z * *slice + s->y * row + s->x;
  size_t bytes = extent(p->WidthInBytes, p->Height, p->Depth, row, *slice);
  switch (s->type) {
    case CU_MEMORYTYPE_HOST:
      *at = (const char *)s->host + offset;
      return s->host == NULL ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
    case CU_MEMORYTYPE_DEVICE:
      *at = (const char *)(uintptr_t)s->device + offset;
      return covered(s->device + offset, bytes) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    case CU_MEMORYTYPE_UNIFIED:
      *at = (const char *)(uintptr_t)s->device + offset;
      return s->device == 0 ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
    case CU_MEMORYTYPE_ARRAY: break;
    default: return CUDA_ERROR_INVALID_VALUE;
  }
  const char *base = array_bytes(s->array, pitch, slice);
  if (base == NULL) return CUDA_ERROR_INVALID_HANDLE;
  *at = base + s->z * *slice + s->y * *pitch + s->x;
  return CUDA_SUCCESS;
}

CUresult move_of_3d(const CUDA_MEMCPY3D *p, struct move *out) {
  const char *to = NULL;
  if (p == NULL) return CUDA_ERROR_INVALID_VALUE;
  *out = (struct move){.width = p->WidthInBytes, .height = p->Height, .depth = p->Depth};
  struct side from = {p->srcMemoryType, p->srcHost, p->srcDevice, p->srcArray, p->srcXInBytes,
                      p->srcY,          p->srcZ,    p->srcPitch,  p->srcHeight};
  struct side dest = {p->dstMemoryType, p->dstHost, p->dstDevice, p->dstArray, p->dstXInBytes,
                      p->dstY,          p->dstZ,    p->dstPitch,  p->dstHeight};
  CUresult result = resolve(&from, p, &out->from, &out->from_pitch, &out->from_slice);
  if (result == CUDA_SUCCESS) result = resolve(&dest, p, &to, &out->to_pitch, &out->to_slice);
  out->to = (char *)(uintptr_t)to;
  return result;
}

CUresult move_of_fill(CUdeviceptr to, size_t pitch, unsigned value, unsigned element, size_t width, size_t height,
                      struct move *out) {
  size_t bytes = width * element;
  if (element != 1 && element != 2 && element != 4) return CUDA_ERROR_INVALID_VALUE;
  if (height > 1 && pitch < bytes) return CUDA_ERROR_INVALID_VALUE;
  *out = (struct move){.to = (char *)(uintptr_t)to,
                       .to_pitch = pitch,
                       .width = bytes,
                       .height = height,
                       .depth = 1,
                       .value = value,
                       .element = element};
  return covered(to, extent(bytes, height, 1, pitch, 0)) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
