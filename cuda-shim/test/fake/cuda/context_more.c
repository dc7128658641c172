/* Small questions to a context, and waiting for all of it. */
#include "driver.h"

CUresult cuCtxSynchronize(void) {
  ENTER_CTX;
  CUresult unsafe = capture_unsafe();
  if (unsafe != CUDA_SUCCESS) return unsafe;
  context_wait(ctx, false);
  pools_settle();
  return CUDA_SUCCESS;
}

CUresult cuCtxSynchronize_v2(CUcontext which) {
  ENTER;
  if (!context_valid(which)) return CUDA_ERROR_INVALID_CONTEXT;
  CUresult unsafe = capture_unsafe();
  if (unsafe != CUDA_SUCCESS) return unsafe;
  context_wait(which, false);
  pools_settle();
  return CUDA_SUCCESS;
}

CUresult cuCtxGetFlags(unsigned int *flags);
CUresult cuCtxGetFlags(unsigned int *flags) {
  ENTER_CTX;
  if (flags == NULL) return CUDA_ERROR_INVALID_VALUE;
  *flags = ctx->flags;
  return CUDA_SUCCESS;
}

CUresult cuCtxSetFlags(unsigned int flags);
CUresult cuCtxSetFlags(unsigned int flags) {
  ENTER_CTX;
  ctx->flags = flags;
  return CUDA_SUCCESS;
}

CUresult cuCtxGetId(CUcontext which, unsigned long long *id);
CUresult cuCtxGetId(CUcontext which, unsigned long long *id) {
  ENTER;
  if (which == NULL) which = context_current();
  if (!context_valid(which)) return CUDA_ERROR_INVALID_CONTEXT;
  if (id == NULL) return CUDA_ERROR_INVALID_VALUE;
  *id = which->id;
  return CUDA_SUCCESS;
}

CUresult cuCtxGetApiVersion(CUcontext which, unsigned int *version);
CUresult cuCtxGetApiVersion(CUcontext which, unsigned int *version) {
  ENTER;
  if (which == NULL) which = context_current();
  if (!context_valid(which)) return CUDA_ERROR_INVALID_CONTEXT;
  if (version == NULL) return CUDA_ERROR_INVALID_VALUE;
  *version = which->api_version;
  return CUDA_SUCCESS;
}

CUresult cuCtxGetLimit(size_t *value, int limit);
CUresult cuCtxGetLimit(size_t *value, int limit) {
  ENTER_CTX;
  if (value == NULL) return CUDA_ERROR_INVALID_VALUE;
  if (limit < 0 || limit >= 16) return CUDA_ERROR_UNSUPPORTED_LIMIT;
  *value = ctx->limits[limit];
  return CUDA_SUCCESS;
}

CUresult cuCtxSetLimit(int limit, size_t value);
CUresult cuCtxSetLimit(int limit, size_t value) {
  ENTER_CTX;
  if (limit < 0 || limit >= 16) return CUDA_ERROR_UNSUPPORTED_LIMIT;
  ctx->limits[limit] = value;
  return CUDA_SUCCESS;
}

CUresult cuCtxGetCacheConfig(int *config);
CUresult cuCtxGetCacheConfig(int *config) {
  ENTER_CTX;
  if (config == NULL) return CUDA_ERROR_INVALID_VALUE;
  *config = ctx->cache_config;
  return CUDA_SUCCESS;
}

CUresult cuCtxSetCacheConfig(int config);
CUresult cuCtxSetCacheConfig(int config) {
  ENTER_CTX;
  ctx->cache_config = config;
  return CUDA_SUCCESS;
}

CUresult cuCtxGetStreamPriorityRange(int *least, int *greatest);
CUresult cuCtxGetStreamPriorityRange(int *least, int *greatest) {
  ENTER_CTX;
  if (least != NULL) *least = 0;
  if (greatest != NULL) *greatest = -5;
  return CUDA_SUCCESS;
}

CUresult cuCtxEnablePeerAccess(CUcontext peer, unsigned int flags);
CUresult cuCtxEnablePeerAccess(CUcontext peer, unsigned int flags) {
  ENTER_CTX;
  return flags == 0 && context_valid(peer) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuCtxDisablePeerAccess(CUcontext peer);
CUresult cuCtxDisablePeerAccess(CUcontext peer) {
  ENTER_CTX;
  return context_valid(peer) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

CUresult cuMemGetInfo_v2(size_t *available, size_t *total) {
  ENTER_CTX;
  if (available == NULL || total == NULL) return CUDA_ERROR_INVALID_VALUE;
  const struct gpu_device *d = &driver.gpu.state->devices[card_of(ctx->device)];
  uint64_t used = gpu_used_by_living(&driver.gpu, card_of(ctx->device));
  *total = d->total;
  *available = used < d->total ? d->total - used : 0;
  return CUDA_SUCCESS;
}
