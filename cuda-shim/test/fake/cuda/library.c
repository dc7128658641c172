/* Libraries and their kernels: modules without a context. */
#include "kernel.h"

CUresult cuLibraryLoadData(CUlibrary *library, const void *code, int *jit, void **jit_values, unsigned int jit_count,
                           int *options, void **option_values, unsigned int option_count);
CUresult cuLibraryLoadData(CUlibrary *library, const void *code, int *jit, void **jit_values, unsigned int jit_count,
                           int *options, void **option_values, unsigned int option_count) {
  ENTER;
  (void)jit;
  (void)jit_values;
  (void)jit_count;
  (void)options;
  (void)option_values;
  (void)option_count;
  if (library == NULL) return CUDA_ERROR_INVALID_VALUE;
  struct CUlib_st *l = calloc(1, sizeof *l);
  if (l == NULL) return CUDA_ERROR_OUT_OF_MEMORY;
  CUresult result = image_load(&l->image, code, context_current());
  if (result == CUDA_SUCCESS) {
    *library = l;
  } else {
    image_unload(&l->image);
    free(l);
  }
  return result;
}

static bool valid(const struct CUlib_st *l) { return l != NULL && l->image.magic == MAGIC_IMAGE; }
static bool is_kernel(const struct CUfunc_st *f) { return f != NULL && f->magic == MAGIC_FUNC; }

CUresult cuLibraryUnload(CUlibrary library);
CUresult cuLibraryUnload(CUlibrary library) {
  ENTER;
  if (!valid(library)) return CUDA_ERROR_INVALID_HANDLE;
  image_unload(&library->image);
  free(library);
  return CUDA_SUCCESS;
}

CUresult cuLibraryGetKernel(CUkernel *kernel, CUlibrary library, const char *name);
CUresult cuLibraryGetKernel(CUkernel *kernel, CUlibrary library, const char *name) {
  ENTER;
  if (kernel == NULL || name == NULL) return CUDA_ERROR_INVALID_VALUE;
  if (!valid(library)) return CUDA_ERROR_INVALID_HANDLE;
  *kernel = (CUkernel)image_find(&library->image, name);
  return *kernel == NULL ? CUDA_ERROR_NOT_FOUND : CUDA_SUCCESS;
}

CUresult cuLibraryGetKernelCount(unsigned int *count, CUlibrary library);
CUresult cuLibraryGetKernelCount(unsigned int *count, CUlibrary library) {
  ENTER;
  if (count == NULL) return CUDA_ERROR_INVALID_VALUE;
  if (!valid(library)) return CUDA_ERROR_INVALID_HANDLE;
  *count = 0;
  for (const struct CUfunc_st *f = library->image.functions; f != NULL; f = f->next) (*count)++;
  return CUDA_SUCCESS;
}

CUresult cuLibraryGetModule(CUmodule *module, CUlibrary library);
CUresult cuLibraryGetModule(CUmodule *module, CUlibrary library) {
  ENTER_CTX;
  (void)ctx;
  if (module == NULL) return CUDA_ERROR_INVALID_VALUE;
  if (!valid(library)) return CUDA_ERROR_INVALID_HANDLE;
  *module = (CUmodule)library; /* both begin with their image */
  return CUDA_SUCCESS;
}

CUresult cuKernelGetFunction(CUfunction *f, CUkernel kernel);
CUresult cuKernelGetFunction(CUfunction *f, CUkernel kernel) {
  ENTER_CTX;
  (void)ctx;
  if (f == NULL) return CUDA_ERROR_INVALID_VALUE;
  *f = (CUfunction)kernel;
  return is_kernel(*f) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

CUresult cuKernelGetLibrary(CUlibrary *library, CUkernel kernel);
CUresult cuKernelGetLibrary(CUlibrary *library, CUkernel kernel) {
  ENTER;
  const struct CUfunc_st *f = (const struct CUfunc_st *)kernel;
  if (library == NULL) return CUDA_ERROR_INVALID_VALUE;
  if (!is_kernel(f)) return CUDA_ERROR_INVALID_HANDLE;
  *library = (CUlibrary)f->image;
  return CUDA_SUCCESS;
}

CUresult cuKernelGetName(const char **name, CUkernel kernel);
CUresult cuKernelGetName(const char **name, CUkernel kernel) {
  ENTER;
  const struct CUfunc_st *f = (const struct CUfunc_st *)kernel;
  if (name == NULL) return CUDA_ERROR_INVALID_VALUE;
  if (!is_kernel(f)) return CUDA_ERROR_INVALID_HANDLE;
  *name = f->name;
  return CUDA_SUCCESS;
}

/* ---- functions ------------------------------------------------------------------------------------------------------- */

static CUresult attribute(int *value, int which, const struct CUfunc_st *f) {
  static const int VALUES[] = {1024, 0, 0, 0, 32, 90, 90, 0, 49152, -1, 0, 0, 0, 0, 0, 0, 0, 0};
  if (value == NULL || which < 0 || (size_t)which >= sizeof VALUES / sizeof VALUES[0]) return CUDA_ERROR_INVALID_VALUE;
  if (!is_kernel(f)) return CUDA_ERROR_INVALID_HANDLE;
  *value = VALUES[which];
  return CUDA_SUCCESS;
}

CUresult cuFuncGetAttribute(int *value, int which, CUfunction f);
CUresult cuFuncGetAttribute(int *value, int which, CUfunction f) {
  ENTER;
  return attribute(value, which, f);
}

CUresult cuKernelGetAttribute(int *value, int which, CUkernel kernel, CUdevice device);
CUresult cuKernelGetAttribute(int *value, int which, CUkernel kernel, CUdevice device) {
  ENTER;
  return valid_device(device) ? attribute(value, which, (const struct CUfunc_st *)kernel) : CUDA_ERROR_INVALID_DEVICE;
}

CUresult cuFuncSetAttribute(CUfunction f, int which, int value);
CUresult cuFuncSetAttribute(CUfunction f, int which, int value) {
  ENTER;
  (void)value;
  if (which < 0 || which > 17) return CUDA_ERROR_INVALID_VALUE;
  return is_kernel(f) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

CUresult cuKernelSetAttribute(int which, int value, CUkernel kernel, CUdevice device);
CUresult cuKernelSetAttribute(int which, int value, CUkernel kernel, CUdevice device) {
  ENTER;
  (void)value;
  if (which < 0 || which > 17 || !valid_device(device)) return CUDA_ERROR_INVALID_VALUE;
  return is_kernel((const struct CUfunc_st *)kernel) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

CUresult cuFuncSetCacheConfig(CUfunction f, int config);
CUresult cuFuncSetCacheConfig(CUfunction f, int config) {
  ENTER;
  (void)config;
  return is_kernel(f) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

CUresult cuFuncGetModule(CUmodule *module, CUfunction f);
CUresult cuFuncGetModule(CUmodule *module, CUfunction f) {
  ENTER;
  if (module == NULL) return CUDA_ERROR_INVALID_VALUE;
  if (!is_kernel(f)) return CUDA_ERROR_INVALID_HANDLE;
  *module = (CUmodule)f->image;
  return CUDA_SUCCESS;
}

CUresult cuFuncGetName(const char **name, CUfunction f);
CUresult cuFuncGetName(const char **name, CUfunction f) {
  ENTER;
  if (name == NULL) return CUDA_ERROR_INVALID_VALUE;
  if (!is_kernel(f)) return CUDA_ERROR_INVALID_HANDLE;
  *name = f->name;
  return CUDA_SUCCESS;
}

static CUresult occupancy(int *blocks, CUfunction f, int block_size) {
  if (blocks == NULL || block_size <= 0) return CUDA_ERROR_INVALID_VALUE;
  if (!is_kernel(f)) return CUDA_ERROR_INVALID_HANDLE;
  int fit = block_size > 1024 ? 0 : 2048 / block_size;
  *blocks = fit > 32 ? 32 : fit;
  return CUDA_SUCCESS;
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, CUfunction f, int block_size, size_t shared);
CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, CUfunction f, int block_size, size_t shared) {
  ENTER;
  (void)shared;
  return occupancy(blocks, f, block_size);
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, CUfunction f, int block_size, size_t shared,
                                                              unsigned int flags);
CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, CUfunction f, int block_size, size_t shared,
                                                              unsigned int flags) {
  ENTER;
  (void)shared;
  return flags > 1 ? CUDA_ERROR_INVALID_VALUE : occupancy(blocks, f, block_size);
}
