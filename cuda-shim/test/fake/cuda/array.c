/* Arrays and mipmapped arrays. Each level lies in rows, and is charged for what its elements take. */
#include "move.h"

enum { MAGIC_ARRAY = 0x41525246, MAGIC_MIPMAP = 0x4D495046, LEVELS = 32 };

struct CUarray_st {
  uint32_t magic;
  CUDA_ARRAY3D_DESCRIPTOR desc;
  CUdevice device;
  uint64_t at, mapped, charged;
  size_t pitch, slice;
  bool of_mipmap;
};

struct CUmipmappedArray_st {
  uint32_t magic;
  unsigned levels;
  struct CUarray_st level[LEVELS];
};

/* Bytes of one channel; 0: not one that arrays of plain elements have. */
static size_t channel_bytes(CUarray_format format) {
  switch ((int)format) {
    case 0x01:
    case 0x08: return 1;
    case 0x02:
    case 0x09:
    case 0x10: return 2;
    case 0x03:
    case 0x0a:
    case 0x20: return 4;
    default: return 0;
  }
}

static size_t at_least_1(size_t n) { return n == 0 ? 1 : n; }

static CUresult open_array(struct CUarray_st *a, const CUDA_ARRAY3D_DESCRIPTOR *desc, CUdevice device) {
  size_t element = channel_bytes(desc->Format) * desc->NumChannels;
  if (desc->Width == 0 || element == 0 || (desc->NumChannels != 1 && desc->NumChannels != 2 && desc->NumChannels != 4)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  if (desc->Width > 1 << 20 || desc->Height > 1 << 20 || desc->Depth > 1 << 20) return CUDA_ERROR_INVALID_VALUE;
  *a = (struct CUarray_st){.desc = *desc, .device = device, .pitch = desc->Width * element};
  a->slice = a->pitch * at_least_1(desc->Height);
  uint64_t bytes = a->slice * at_least_1(desc->Depth);
  bool deferred = (desc->Flags & (CUDA_ARRAY3D_SPARSE | CUDA_ARRAY3D_DEFERRED_MAPPING)) != 0;
  a->charged = deferred ? 0 : device_round(bytes);
  a->mapped = (bytes + 4095) / 4096 * 4096;
  if (a->charged > 0 && !device_take(device, a->charged)) return CUDA_ERROR_OUT_OF_MEMORY;
  a->at = memory_map(a->mapped);
  if (a->at == 0) {
    device_give(device, a->charged);
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  a->magic = MAGIC_ARRAY;
  return CUDA_SUCCESS;
}

static void close_array(struct CUarray_st *a) {
  memory_unmap(a->at, a->mapped);
  device_give(a->device, a->charged);
  a->magic = MAGIC_GONE;
}

static bool valid(const struct CUarray_st *a) { return a != NULL && a->magic == MAGIC_ARRAY; }

char *array_bytes(CUarray array, size_t *pitch, size_t *slice) {
  if (!valid(array)) return NULL;
  *pitch = array->pitch;
  *slice = array->slice;
  return (char *)(uintptr_t)array->at;
}

static CUresult create(CUarray *out, const CUDA_ARRAY3D_DESCRIPTOR *desc) {
  struct CUctx_st *ctx = context_current();
  if (ctx == NULL) return CUDA_ERROR_INVALID_CONTEXT;
  if (out == NULL || desc == NULL) return CUDA_ERROR_INVALID_VALUE;
  CUresult unsafe = capture_unsafe();
  if (unsafe != CUDA_SUCCESS) return unsafe;
  struct CUarray_st *a = calloc(1, sizeof *a);
  if (a == NULL) return CUDA_ERROR_OUT_OF_MEMORY;
  CUresult result = open_array(a, desc, ctx->device);
  if (result == CUDA_SUCCESS) {
    *out = a;
  } else {
    free(a);
  }
  return result;
}

CUresult cuArrayCreate_v2(CUarray *array, const CUDA_ARRAY_DESCRIPTOR *desc) {
  ENTER;
  if (desc == NULL) return CUDA_ERROR_INVALID_VALUE;
  return create(array,
                &(CUDA_ARRAY3D_DESCRIPTOR){
                    .Width = desc->Width, .Height = desc->Height, .Format = desc->Format, .NumChannels = desc->NumChannels});
}

CUresult cuArray3DCreate_v2(CUarray *array, const CUDA_ARRAY3D_DESCRIPTOR *desc) {
  ENTER;
  return create(array, desc);
}

CUresult cuArrayDestroy(CUarray array) {
  ENTER;
  if (!valid(array) || array->of_mipmap) return CUDA_ERROR_INVALID_HANDLE;
  close_array(array);
  free(array);
  return CUDA_SUCCESS;
}

CUresult cuArray3DGetDescriptor_v2(CUDA_ARRAY3D_DESCRIPTOR *desc, CUarray array);
CUresult cuArray3DGetDescriptor_v2(CUDA_ARRAY3D_DESCRIPTOR *desc, CUarray array) {
  ENTER;
  if (desc == NULL) return CUDA_ERROR_INVALID_VALUE;
  if (!valid(array)) return CUDA_ERROR_INVALID_HANDLE;
  *desc = array->desc;
  return CUDA_SUCCESS;
}

CUresult cuArrayGetDescriptor_v2(CUDA_ARRAY_DESCRIPTOR *desc, CUarray array);
CUresult cuArrayGetDescriptor_v2(CUDA_ARRAY_DESCRIPTOR *desc, CUarray array) {
  ENTER;
  if (desc == NULL) return CUDA_ERROR_INVALID_VALUE;
  if (!valid(array)) return CUDA_ERROR_INVALID_HANDLE;
  *desc = (CUDA_ARRAY_DESCRIPTOR){array->desc.Width, array->desc.Height, array->desc.Format, array->desc.NumChannels};
  return CUDA_SUCCESS;
}

/* ---- levels ---------------------------------------------------------------------------------------------------------------- */

static size_t half(size_t n) { return n <= 1 ? n : n / 2; }

static CUresult open_levels(struct CUmipmappedArray_st *m, CUDA_ARRAY3D_DESCRIPTOR desc, unsigned levels, CUdevice device) {
  bool layered = (desc.Flags & CUDA_ARRAY3D_LAYERED) != 0;
  for (unsigned i = 0; i < levels; i++) {
    CUresult result = open_array(&m->level[i], &desc, device);
    if (result != CUDA_SUCCESS) {
      while (i > 0) close_array(&m->level[--i]);
      return result;
    }
    m->level[i].of_mipmap = true;
    desc.Width = half(desc.Width);
    desc.Height = half(desc.Height);
    if (!layered) desc.Depth = half(desc.Depth);
  }
  m->levels = levels;
  m->magic = MAGIC_MIPMAP;
  return CUDA_SUCCESS;
}

/* No more levels than it takes to come down to one element. */
static unsigned most_levels(const CUDA_ARRAY3D_DESCRIPTOR *d) {
  size_t longest = d->Width > d->Height ? d->Width : d->Height;
  if ((d->Flags & CUDA_ARRAY3D_LAYERED) == 0 && d->Depth > longest) longest = d->Depth;
  unsigned n = 1;
  while (longest > 1) {
    longest /= 2;
    n++;
  }
  return n;
}

CUresult cuMipmappedArrayCreate(CUmipmappedArray *array, const CUDA_ARRAY3D_DESCRIPTOR *desc, unsigned int levels) {
  ENTER_CTX;
  if (array == NULL || desc == NULL || levels == 0) return CUDA_ERROR_INVALID_VALUE;
  unsigned most = most_levels(desc);
  if (levels > most) levels = most;
  if (levels > LEVELS) return CUDA_ERROR_INVALID_VALUE;
  struct CUmipmappedArray_st *m = calloc(1, sizeof *m);
  if (m == NULL) return CUDA_ERROR_OUT_OF_MEMORY;
  CUresult result = open_levels(m, *desc, levels, ctx->device);
  if (result == CUDA_SUCCESS) {
    *array = m;
  } else {
    free(m);
  }
  return result;
}

CUresult cuMipmappedArrayDestroy(CUmipmappedArray array) {
  ENTER;
  if (array == NULL || array->magic != MAGIC_MIPMAP) return CUDA_ERROR_INVALID_HANDLE;
  for (unsigned i = 0; i < array->levels; i++) close_array(&array->level[i]);
  array->magic = MAGIC_GONE;
  free(array);
  return CUDA_SUCCESS;
}

CUresult cuMipmappedArrayGetLevel(CUarray *level, CUmipmappedArray array, unsigned int which);
CUresult cuMipmappedArrayGetLevel(CUarray *level, CUmipmappedArray array, unsigned int which) {
  ENTER;
  if (array == NULL || array->magic != MAGIC_MIPMAP) return CUDA_ERROR_INVALID_HANDLE;
  if (level == NULL || which >= array->levels) return CUDA_ERROR_INVALID_VALUE;
  *level = &array->level[which];
  return CUDA_SUCCESS;
}
