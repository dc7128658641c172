/* Element bytes x channels x width x height x depth, where a missing dimension counts as 1; each level halves them. */
#include "array_size.h"

enum { MAX_LEVELS = 32, BLOCK = 4 };

/* Of formats that are compressed or whose channels are part of the format; 0 for all others. */
static unsigned int bits_per_texel(CUarray_format format) {
  unsigned int f = (unsigned int)format;
  if (f == CU_AD_FORMAT_BC1_UNORM || f == CU_AD_FORMAT_BC1_UNORM_SRGB || f == CU_AD_FORMAT_BC4_UNORM ||
      f == CU_AD_FORMAT_BC4_SNORM)
    return 4;
  if (f >= CU_AD_FORMAT_BC2_UNORM && f <= CU_AD_FORMAT_BC7_UNORM_SRGB) return 8;
  switch (format) {
    case CU_AD_FORMAT_NV12: return 12;
    case CU_AD_FORMAT_UNORM_INT8X1:
    case CU_AD_FORMAT_SNORM_INT8X1: return 8;
    case CU_AD_FORMAT_UNORM_INT8X2:
    case CU_AD_FORMAT_SNORM_INT8X2:
    case CU_AD_FORMAT_UNORM_INT16X1:
    case CU_AD_FORMAT_SNORM_INT16X1: return 16;
    case CU_AD_FORMAT_UNORM_INT8X4:
    case CU_AD_FORMAT_SNORM_INT8X4:
    case CU_AD_FORMAT_UNORM_INT16X2:
    case CU_AD_FORMAT_SNORM_INT16X2: return 32;
    case CU_AD_FORMAT_UNORM_INT16X4:
    case CU_AD_FORMAT_SNORM_INT16X4: return 64;
    default: return 0;
  }
}

/* A format that we do not know counts as the widest: too much is on the safe side. */
static unsigned int bits_per_channel(CUarray_format format) {
  switch (format) {
    case CU_AD_FORMAT_UNSIGNED_INT8:
    case CU_AD_FORMAT_SIGNED_INT8: return 8;
    case CU_AD_FORMAT_UNSIGNED_INT16:
    case CU_AD_FORMAT_SIGNED_INT16:
    case CU_AD_FORMAT_HALF: return 16;
    default: return 32;
  }
}

static uint64_t at_least(uint64_t n, uint64_t least) { return n > least ? n : least; }

uint64_t vgpu_array_bytes(const CUDA_ARRAY3D_DESCRIPTOR *desc, unsigned int levels) {
  if ((desc->Flags & (CUDA_ARRAY3D_SPARSE | CUDA_ARRAY3D_DEFERRED_MAPPING)) != 0) return 0; /* memory comes by mapping */
  unsigned int bits = bits_per_texel(desc->Format);
  bool blocks = bits != 0 && (unsigned int)desc->Format >= CU_AD_FORMAT_BC1_UNORM &&
                (unsigned int)desc->Format <= CU_AD_FORMAT_BC7_UNORM_SRGB;
  if (bits == 0) bits = bits_per_channel(desc->Format) * (unsigned int)at_least(desc->NumChannels, 1);
  /* layers and faces of a cube are in Depth and do not halve */
  bool layered = (desc->Flags & (CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_CUBEMAP)) != 0;
  uint64_t width = at_least(desc->Width, 1), height = at_least(desc->Height, 1), depth = at_least(desc->Depth, 1), sum = 0;
  for (unsigned int level = 0; level < at_least(levels, 1) && level < MAX_LEVELS; level++) {
    uint64_t w = blocks ? (width + BLOCK - 1) / BLOCK * BLOCK : width,
             h = blocks ? (height + BLOCK - 1) / BLOCK * BLOCK : height;
    uint64_t texels, size;
    if (w < width || h < height || __builtin_mul_overflow(w, h, &texels) || __builtin_mul_overflow(texels, depth, &texels) ||
        __builtin_mul_overflow(texels, (uint64_t)bits, &size) || size > UINT64_MAX - 4095) {
      return UINT64_MAX;
    }
    size = ((size + 7) / 8 + 511) / 512 * 512;
    if (__builtin_add_overflow(sum, size, &sum)) return UINT64_MAX;
    width = at_least(width / 2, 1);
    height = at_least(height / 2, 1);
    if (!layered) depth = at_least(depth / 2, 1);
  }
  return sum;
}
