/* Contexts: what they cost, and which one a thread is in. A destroyed one is kept, so that a stale handle is recognised. */
#include "driver.h"

enum { STACK = 64 };
static _Thread_local struct CUctx_st *stack[STACK]; /* [depth - 1] is current */
static _Thread_local int depth;

static struct CUctx_st *contexts; /* all that ever were */
static struct {
  struct CUctx_st *ctx;
  unsigned count, flags;
} primary[GPU_DEVICES];
static unsigned long long next_id;

bool context_valid(const struct CUctx_st *ctx) { return ctx != NULL && ctx->magic == MAGIC_CTX; }

struct CUctx_st *context_current(void) {
  struct CUctx_st *ctx = depth > 0 ? stack[depth - 1] : NULL;
  return context_valid(ctx) ? ctx : NULL;
}

static CUresult set_current(struct CUctx_st *ctx) {
  if (ctx != NULL && !context_valid(ctx)) return CUDA_ERROR_INVALID_CONTEXT;
  if (depth == 0) depth = 1;
  stack[depth - 1] = ctx;
  if (ctx == NULL) depth--;
  return CUDA_SUCCESS;
}

static CUresult push(struct CUctx_st *ctx) {
  if (!context_valid(ctx)) return CUDA_ERROR_INVALID_CONTEXT;
  if (depth == STACK) return CUDA_ERROR_INVALID_VALUE;
  stack[depth++] = ctx;
  return CUDA_SUCCESS;
}

/* ---- life ------------------------------------------------------------------------------------------------------------ */

static void count_contexts(CUdevice d, int by) {
  atomic_fetch_add(&driver.gpu.state->processes[driver.gpu.slot].on[card_of(d)].contexts, (uint32_t)by);
}

static CUresult open_context(struct CUctx_st *ctx, CUdevice d, unsigned flags) {
  ctx->lane = lane_open(d);
  if (ctx->lane == NULL || !device_take(d, driver.gpu.state->context_bytes)) return CUDA_ERROR_OUT_OF_MEMORY;
  count_contexts(d, 1);
  ctx->device = d;
  ctx->flags = flags;
  ctx->limits[0] = 1024;
  ctx->limits[1] = 6 << 20;
  ctx->limits[2] = 8 << 20;
  ctx->magic = MAGIC_CTX;
  return CUDA_SUCCESS;
}

static struct CUctx_st *new_context(void) {
  struct CUctx_st *ctx = calloc(1, sizeof *ctx);
  struct CUstream_st *legacy = calloc(1, sizeof *legacy);
  if (ctx == NULL || legacy == NULL) {
    free(ctx);
    free(legacy);
    return NULL;
  }
  *legacy = (struct CUstream_st){.magic = MAGIC_STREAM, .ctx = ctx, .legacy = true};
  legacy->later_end = &legacy->later;
  ctx->legacy = legacy;
  (void)pthread_mutex_lock(&driver_lock);
  ctx->id = ++next_id;
  ctx->next = contexts;
  contexts = ctx;
  (void)pthread_mutex_unlock(&driver_lock);
  return ctx;
}

static bool any_context(CUdevice d) {
  bool any = false;
  (void)pthread_mutex_lock(&driver_lock);
  for (const struct CUctx_st *c = contexts; c != NULL; c = c->next) any = any || (context_valid(c) && c->device == d);
  (void)pthread_mutex_unlock(&driver_lock);
  return any;
}

static void close_context(struct CUctx_st *ctx) {
  context_wait(ctx, false);
  ctx->magic = MAGIC_GONE;
  context_forget_allocations(ctx);
  if (!any_context(ctx->device)) pools_forget(ctx->device);
  device_give(ctx->device, driver.gpu.state->context_bytes);
  count_contexts(ctx->device, -1);
}

static CUresult create(CUcontext *out, unsigned flags, CUdevice d, unsigned version) {
  if (out == NULL) return CUDA_ERROR_INVALID_VALUE;
  if (!valid_device(d)) return CUDA_ERROR_INVALID_DEVICE;
  struct CUctx_st *ctx = new_context();
  if (ctx == NULL) return CUDA_ERROR_OUT_OF_MEMORY;
  ctx->api_version = version;
  CUresult result = open_context(ctx, d, flags);
  if (result != CUDA_SUCCESS) return result;
  *out = ctx;
  return push(ctx);
}

CUresult cuCtxCreate(CUcontext *ctx, unsigned int flags, CUdevice device) {
  ENTER;
  return create(ctx, flags, device, 3010);
}

CUresult cuCtxCreate_v2(CUcontext *ctx, unsigned int flags, CUdevice device) {
  ENTER;
  return create(ctx, flags, device, 3020);
}

CUresult cuCtxCreate_v3(CUcontext *ctx, CUexecAffinityParam *affinity, int count, unsigned int flags, CUdevice device) {
  ENTER;
  if (affinity != NULL && count > 0) return CUDA_ERROR_NOT_SUPPORTED; /* only under MPS */
  return create(ctx, flags, device, 3030);
}

CUresult cuCtxCreate_v4(CUcontext *ctx, CUctxCreateParams *params, unsigned int flags, CUdevice device) {
  ENTER;
  (void)params;
  return create(ctx, flags, device, 3030);
}

static CUresult destroy(struct CUctx_st *ctx) {
  if (!context_valid(ctx) || ctx->primary) return CUDA_ERROR_INVALID_CONTEXT;
  if (depth > 0 && stack[depth - 1] == ctx) depth--;
  close_context(ctx);
  return CUDA_SUCCESS;
}

CUresult cuCtxDestroy(CUcontext ctx) {
  ENTER;
  return destroy(ctx);
}

CUresult cuCtxDestroy_v2(CUcontext ctx) {
  ENTER;
  return destroy(ctx);
}

/* ---- primary contexts ------------------------------------------------------------------------------------------------ */

static CUresult retain(CUdevice d, CUcontext *out) {
  if (primary[d].ctx == NULL) primary[d].ctx = new_context();
  struct CUctx_st *ctx = primary[d].ctx;
  if (ctx == NULL) return CUDA_ERROR_OUT_OF_MEMORY;
  ctx->primary = true;
  ctx->api_version = 3020;
  CUresult result = context_valid(ctx) ? CUDA_SUCCESS : open_context(ctx, d, primary[d].flags);
  if (result != CUDA_SUCCESS) return result;
  primary[d].count++;
  *out = ctx;
  return CUDA_SUCCESS;
}

static pthread_mutex_t primary_lock = PTHREAD_MUTEX_INITIALIZER;

CUresult cuDevicePrimaryCtxRetain(CUcontext *ctx, CUdevice device) {
  ENTER;
  if (ctx == NULL) return CUDA_ERROR_INVALID_VALUE;
  if (!valid_device(device)) return CUDA_ERROR_INVALID_DEVICE;
  (void)pthread_mutex_lock(&primary_lock);
  CUresult result = retain(device, ctx);
  (void)pthread_mutex_unlock(&primary_lock);
  return result;
}

static CUresult release(CUdevice d, bool reset) {
  if (!valid_device(d)) return CUDA_ERROR_INVALID_DEVICE;
  CUresult result = CUDA_SUCCESS;
  (void)pthread_mutex_lock(&primary_lock);
  if (!reset && primary[d].count == 0) {
    result = CUDA_ERROR_INVALID_CONTEXT;
  } else if (reset || --primary[d].count == 0) {
    primary[d].count = 0;
    if (context_valid(primary[d].ctx)) close_context(primary[d].ctx);
  }
  (void)pthread_mutex_unlock(&primary_lock);
  return result;
}

CUresult cuDevicePrimaryCtxRelease(CUdevice device) {
  ENTER;
  return release(device, false);
}

CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device) {
  ENTER;
  return release(device, false);
}

CUresult cuDevicePrimaryCtxReset(CUdevice device) {
  ENTER;
  return release(device, true);
}

CUresult cuDevicePrimaryCtxReset_v2(CUdevice device) {
  ENTER;
  return release(device, true);
}

CUresult cuDevicePrimaryCtxSetFlags_v2(CUdevice device, unsigned int flags);
CUresult cuDevicePrimaryCtxSetFlags_v2(CUdevice device, unsigned int flags) {
  ENTER;
  if (!valid_device(device)) return CUDA_ERROR_INVALID_DEVICE;
  primary[device].flags = flags;
  if (context_valid(primary[device].ctx)) primary[device].ctx->flags = flags;
  return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned int *flags, int *active);
CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned int *flags, int *active) {
  ENTER;
  if (!valid_device(device)) return CUDA_ERROR_INVALID_DEVICE;
  if (flags != NULL) *flags = primary[device].flags;
  if (active != NULL) *active = context_valid(primary[device].ctx);
  return CUDA_SUCCESS;
}

/* ---- current --------------------------------------------------------------------------------------------------------- */

CUresult cuCtxSetCurrent(CUcontext ctx);
CUresult cuCtxSetCurrent(CUcontext ctx) {
  ENTER;
  return set_current(ctx);
}

CUresult cuCtxGetCurrent(CUcontext *ctx);
CUresult cuCtxGetCurrent(CUcontext *ctx) {
  ENTER;
  if (ctx == NULL) return CUDA_ERROR_INVALID_VALUE;
  *ctx = depth > 0 ? stack[depth - 1] : NULL;
  return CUDA_SUCCESS;
}

CUresult cuCtxPushCurrent_v2(CUcontext ctx);
CUresult cuCtxPushCurrent_v2(CUcontext ctx) {
  ENTER;
  return push(ctx);
}

CUresult cuCtxPopCurrent_v2(CUcontext *ctx);
CUresult cuCtxPopCurrent_v2(CUcontext *ctx) {
  ENTER;
  if (depth == 0) return CUDA_ERROR_INVALID_CONTEXT;
  depth--;
  if (ctx != NULL) *ctx = stack[depth];
  return CUDA_SUCCESS;
}

CUresult cuCtxGetDevice(CUdevice *device);
CUresult cuCtxGetDevice(CUdevice *device) {
  ENTER_CTX;
  if (device == NULL) return CUDA_ERROR_INVALID_VALUE;
  *device = ctx->device;
  return CUDA_SUCCESS;
}

CUresult cuCtxGetDevice_v2(CUdevice *device, CUcontext which);
CUresult cuCtxGetDevice_v2(CUdevice *device, CUcontext which) {
  ENTER;
  if (which == NULL) which = context_current();
  if (!context_valid(which)) return CUDA_ERROR_INVALID_CONTEXT;
  if (device == NULL) return CUDA_ERROR_INVALID_VALUE;
  *device = which->device;
  return CUDA_SUCCESS;
}
