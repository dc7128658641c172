/* Launches. The grid must be one that could run; how long it runs is the kernel's own affair. */
#include "kernel.h"

bool kernel_length(CUfunction f, void **params, void **extra, uint64_t *ns) {
  if (f == NULL || f->magic != MAGIC_FUNC) return false;
  *ns = f->ns;
  if (f->argument < 0) return true;
  if (params != NULL) {
    memcpy(ns, params[f->argument], sizeof *ns);
  } else if (extra != NULL && extra[0] == (void *)1) { /* one buffer with all arguments, 64 bits each with ours */
    memcpy(ns, (const char *)extra[1] + 8 * f->argument, sizeof *ns);
  }
  return true;
}

static bool grid_fits(unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz) {
  if (gx == 0 || gy == 0 || gz == 0 || bx == 0 || by == 0 || bz == 0) return false;
  if (gx > 2147483647u || gy > 65535 || gz > 65535 || bx > 1024 || by > 1024 || bz > 64) return false;
  return (uint64_t)bx * by * bz <= 1024;
}

static CUresult launch(CUfunction f, bool fits, CUstream stream, void **params, void **extra, bool per_thread) {
  uint64_t ns = 0;
  struct CUstream_st *s = stream_of(stream, per_thread);
  if (s == NULL) return context_current() == NULL ? CUDA_ERROR_INVALID_CONTEXT : CUDA_ERROR_INVALID_HANDLE;
  if (!kernel_length(f, params, extra, &ns)) return CUDA_ERROR_INVALID_HANDLE;
  return fits ? stream_work(s, ns, 1) : CUDA_ERROR_INVALID_VALUE;
}

static CUresult do_cuLaunchKernel(CUfunction f, unsigned int gx, unsigned int gy, unsigned int gz, unsigned int bx,
                                  unsigned int by, unsigned int bz, unsigned int shared, CUstream stream, void **params,
                                  void **extra, bool per_thread) {
  (void)shared;
  return launch(f, grid_fits(gx, gy, gz, bx, by, bz), stream, params, extra, per_thread);
}
STREAM_PAIR(cuLaunchKernel,
            (CUfunction f, unsigned int gx, unsigned int gy, unsigned int gz, unsigned int bx, unsigned int by, unsigned int bz,
             unsigned int shared, CUstream stream, void **params, void **extra),
            f, gx, gy, gz, bx, by, bz, shared, stream, params, extra)

static CUresult do_cuLaunchKernelEx(const CUlaunchConfig *c, CUfunction f, void **params, void **extra, bool per_thread) {
  if (c == NULL) return CUDA_ERROR_INVALID_VALUE;
  bool fits = grid_fits(c->gridDimX, c->gridDimY, c->gridDimZ, c->blockDimX, c->blockDimY, c->blockDimZ);
  return launch(f, fits, c->hStream, params, extra, per_thread);
}
STREAM_PAIR(cuLaunchKernelEx, (const CUlaunchConfig *config, CUfunction f, void **params, void **extra), config, f, params,
            extra)

/* All blocks must be on the card at once: 2048 threads a multiprocessor. */
static CUresult do_cuLaunchCooperativeKernel(CUfunction f, unsigned int gx, unsigned int gy, unsigned int gz, unsigned int bx,
                                             unsigned int by, unsigned int bz, unsigned int shared, CUstream stream,
                                             void **params, bool per_thread) {
  int each = 0, sms = 0;
  (void)shared;
  struct CUctx_st *ctx = context_current();
  if (ctx == NULL) return CUDA_ERROR_INVALID_CONTEXT;
  if (!grid_fits(gx, gy, gz, bx, by, bz)) return CUDA_ERROR_INVALID_VALUE;
  each = 2048 / (int)(bx * by * bz) > 32 ? 32 : 2048 / (int)(bx * by * bz);
  if (device_multiprocessors(ctx->device, &sms) != CUDA_SUCCESS) return CUDA_ERROR_INVALID_DEVICE;
  if ((uint64_t)gx * gy * gz > (uint64_t)each * (uint64_t)sms) return CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE;
  return launch(f, true, stream, params, NULL, per_thread);
}
STREAM_PAIR(cuLaunchCooperativeKernel,
            (CUfunction f, unsigned int gx, unsigned int gy, unsigned int gz, unsigned int bx, unsigned int by, unsigned int bz,
             unsigned int shared, CUstream stream, void **params),
            f, gx, gy, gz, bx, by, bz, shared, stream, params)

CUresult cuLaunchCooperativeKernelMultiDevice(CUDA_LAUNCH_PARAMS *list, unsigned int count, unsigned int flags) {
  ENTER;
  if (list == NULL || count == 0 || flags > 3) return CUDA_ERROR_INVALID_VALUE;
  for (unsigned i = 0; i < count; i++) {
    const CUDA_LAUNCH_PARAMS *p = &list[i];
    bool fits = grid_fits(p->gridDimX, p->gridDimY, p->gridDimZ, p->blockDimX, p->blockDimY, p->blockDimZ);
    CUresult result = launch(p->function, fits, p->hStream, p->kernelParams, NULL, false);
    if (result != CUDA_SUCCESS) return result;
  }
  return CUDA_SUCCESS;
}

/* The interface before CUDA 4: arguments and block shape were set on the function beforehand. */
CUresult cuLaunch(CUfunction f) {
  ENTER;
  return launch(f, true, NULL, NULL, NULL, false);
}

CUresult cuLaunchGrid(CUfunction f, int width, int height) {
  ENTER;
  return launch(f, width > 0 && height > 0, NULL, NULL, NULL, false);
}

CUresult cuLaunchGridAsync(CUfunction f, int width, int height, CUstream stream) {
  ENTER;
  return launch(f, width > 0 && height > 0, stream, NULL, NULL, false);
}
