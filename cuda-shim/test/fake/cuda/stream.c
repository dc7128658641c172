/*
 * Streams. The card runs a process's work in the order in which it was queued, whatever the stream, which is an order
 * that every wait between streams allows; so a stream is no queue of its own but the number of its newest operation. Only
 * what must wait for the host (later.c) is kept back.
 */
#include "driver.h"

static unsigned long long next_id = 2; /* 1 and 2 name the legacy and the per-thread stream */

static void raise(_Atomic uint64_t *to, uint64_t number) {
  uint64_t seen = atomic_load_explicit(to, memory_order_relaxed);
  while (seen < number && !atomic_compare_exchange_weak(to, &seen, number)) {
  }
}

void stream_note(struct CUstream_st *s, uint64_t number) {
  raise(&s->last, number);
  raise(&s->ctx->last, number);
  if ((s->flags & CU_STREAM_NON_BLOCKING) == 0) raise(&s->ctx->last_blocking, number);
}

static struct CUstream_st *make(struct CUctx_st *ctx, unsigned flags, int priority, bool per_thread) {
  struct CUstream_st *s = calloc(1, sizeof *s);
  if (s == NULL) return NULL;
  *s = (struct CUstream_st){.magic = MAGIC_STREAM, .ctx = ctx, .flags = flags, .priority = priority, .per_thread = per_thread};
  s->later_end = &s->later;
  (void)pthread_mutex_lock(&driver_lock);
  s->id = ++next_id;
  s->next = ctx->streams;
  ctx->streams = s;
  (void)pthread_mutex_unlock(&driver_lock);
  return s;
}

/* One for each thread and context; a thread that ends leaves its own to the context. */
static struct CUstream_st *per_thread_stream(struct CUctx_st *ctx) {
  static _Thread_local struct CUstream_st *mine[4];
  int spare = 0;
  for (int i = 0; i < 4; i++) {
    if (mine[i] != NULL && mine[i]->ctx == ctx) return mine[i];
    if (mine[i] == NULL) spare = i;
  }
  mine[spare] = make(ctx, 0, 0, true);
  return mine[spare];
}

struct CUstream_st *stream_of(CUstream handle, bool per_thread) {
  if (handle == NULL) handle = per_thread ? CU_STREAM_PER_THREAD : CU_STREAM_LEGACY;
  if (handle == CU_STREAM_LEGACY || handle == CU_STREAM_PER_THREAD) {
    struct CUctx_st *ctx = context_current();
    if (ctx == NULL) return NULL;
    return handle == CU_STREAM_LEGACY ? ctx->legacy : per_thread_stream(ctx);
  }
  return handle->magic == MAGIC_STREAM && context_valid(handle->ctx) ? handle : NULL;
}

/* ---- work ------------------------------------------------------------------------------------------------------------ */

CUresult stream_work(struct CUstream_st *s, uint64_t work_ns, uint64_t kernels) {
  if (s->capture != NULL) return capture_kernel(s, work_ns);
  CUresult implicit = capture_legacy(s);
  if (implicit != CUDA_SUCCESS) return implicit;
  if (s->waiting > 0) {
    stream_later(s, &(struct later){.kind = LATER_KERNEL, .work_ns = work_ns, .kernels = kernels});
  } else {
    stream_note(s, lane_push(s->ctx->lane, work_ns, kernels, NULL));
  }
  return CUDA_SUCCESS;
}

/* Data moves at once: no kernel here changes it. Only behind a host function it has to wait for its turn. */
CUresult stream_call(struct CUstream_st *s, void (*call)(void *), void *data, size_t bytes) {
  if (s->capture != NULL) return capture_call(s, call, data, bytes, CU_NODE_MEMCPY);
  CUresult implicit = capture_legacy(s);
  if (implicit != CUDA_SUCCESS) return implicit;
  if (s->waiting == 0) {
    call(data);
    return CUDA_SUCCESS;
  }
  void *copy = malloc(bytes);
  if (copy == NULL) return CUDA_ERROR_OUT_OF_MEMORY;
  memcpy(copy, data, bytes);
  stream_later(s, &(struct later){.kind = LATER_CALL, .call = call, .data = copy, .owned = true});
  return CUDA_SUCCESS;
}

CUresult stream_host(struct CUstream_st *s, CUhostFn fn, void *data) {
  if (s->capture != NULL) return capture_host(s, fn, data);
  CUresult implicit = capture_legacy(s);
  if (implicit != CUDA_SUCCESS) return implicit;
  stream_later(s, &(struct later){.kind = LATER_CALL, .call = fn, .data = data});
  return CUDA_SUCCESS;
}

bool stream_done(struct CUstream_st *s) {
  if (!s->legacy) return s->waiting == 0 && lane_done(s->ctx->lane, s->last);
  (void)pthread_mutex_lock(&driver_lock);
  bool waits = s->waiting > 0;
  for (const struct CUstream_st *o = s->ctx->streams; o != NULL; o = o->next) {
    waits = waits || ((o->flags & CU_STREAM_NON_BLOCKING) == 0 && o->waiting > 0);
  }
  (void)pthread_mutex_unlock(&driver_lock);
  return !waits && lane_done(s->ctx->lane, s->ctx->last_blocking);
}

/* ---- the interface --------------------------------------------------------------------------------------------------- */

static CUresult create(CUstream *out, unsigned flags, int priority) {
  struct CUctx_st *ctx = context_current();
  if (ctx == NULL) return CUDA_ERROR_INVALID_CONTEXT;
  if (out == NULL || (flags & ~1u) != 0) return CUDA_ERROR_INVALID_VALUE;
  priority = priority > 0 ? 0 : priority < -5 ? -5 : priority;
  *out = make(ctx, flags, priority, false);
  return *out == NULL ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_SUCCESS;
}

CUresult cuStreamCreate(CUstream *stream, unsigned int flags);
CUresult cuStreamCreate(CUstream *stream, unsigned int flags) {
  ENTER;
  return create(stream, flags, 0);
}

CUresult cuStreamCreateWithPriority(CUstream *stream, unsigned int flags, int priority);
CUresult cuStreamCreateWithPriority(CUstream *stream, unsigned int flags, int priority) {
  ENTER;
  return create(stream, flags, priority);
}

static CUresult destroy(struct CUstream_st *s) {
  if (s == NULL || s->legacy || s->per_thread) return CUDA_ERROR_INVALID_HANDLE;
  later_drain(s);
  (void)pthread_mutex_lock(&driver_lock);
  for (struct CUstream_st **at = &s->ctx->streams; *at != NULL; at = &(*at)->next) {
    if (*at != s) continue;
    *at = s->next;
    break;
  }
  (void)pthread_mutex_unlock(&driver_lock);
  s->magic = MAGIC_GONE;
  free(s);
  return CUDA_SUCCESS;
}

CUresult cuStreamDestroy(CUstream stream) {
  ENTER;
  return destroy(stream_of(stream, false));
}

CUresult cuStreamDestroy_v2(CUstream stream) {
  ENTER;
  return destroy(stream_of(stream, false));
}

static CUresult do_cuStreamSynchronize(CUstream stream, bool per_thread) {
  struct CUstream_st *s = stream_of(stream, per_thread);
  if (s == NULL) return context_current() == NULL ? CUDA_ERROR_INVALID_CONTEXT : CUDA_ERROR_INVALID_HANDLE;
  if (s->capture != NULL) return capture_break(s);
  CUresult implicit = capture_legacy(s);
  if (implicit == CUDA_SUCCESS) implicit = capture_unsafe();
  if (implicit != CUDA_SUCCESS) return implicit;
  stream_wait(s);
  pools_settle();
  return CUDA_SUCCESS;
}
STREAM_PAIR(cuStreamSynchronize, (CUstream stream), stream)

static CUresult do_cuStreamQuery(CUstream stream, bool per_thread) {
  struct CUstream_st *s = stream_of(stream, per_thread);
  if (s == NULL) return context_current() == NULL ? CUDA_ERROR_INVALID_CONTEXT : CUDA_ERROR_INVALID_HANDLE;
  if (s->capture != NULL) return capture_break(s);
  CUresult implicit = capture_legacy(s);
  if (implicit == CUDA_SUCCESS) implicit = capture_unsafe();
  if (implicit != CUDA_SUCCESS) return implicit;
  return stream_done(s) ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}
STREAM_PAIR(cuStreamQuery, (CUstream stream), stream)

static CUresult do_cuStreamGetFlags(CUstream stream, unsigned int *flags, bool per_thread) {
  const struct CUstream_st *s = stream_of(stream, per_thread);
  if (s == NULL) return CUDA_ERROR_INVALID_HANDLE;
  if (flags == NULL) return CUDA_ERROR_INVALID_VALUE;
  *flags = s->flags;
  return CUDA_SUCCESS;
}
STREAM_PAIR(cuStreamGetFlags, (CUstream stream, unsigned int *flags), stream, flags)

static CUresult do_cuStreamGetPriority(CUstream stream, int *priority, bool per_thread) {
  const struct CUstream_st *s = stream_of(stream, per_thread);
  if (s == NULL) return CUDA_ERROR_INVALID_HANDLE;
  if (priority == NULL) return CUDA_ERROR_INVALID_VALUE;
  *priority = s->priority;
  return CUDA_SUCCESS;
}
STREAM_PAIR(cuStreamGetPriority, (CUstream stream, int *priority), stream, priority)

static CUresult do_cuStreamGetId(CUstream stream, unsigned long long *id, bool per_thread) {
  const struct CUstream_st *s = stream_of(stream, per_thread);
  if (s == NULL) return CUDA_ERROR_INVALID_HANDLE;
  if (id == NULL) return CUDA_ERROR_INVALID_VALUE;
  *id = s->legacy ? 1 : s->id;
  return CUDA_SUCCESS;
}
STREAM_PAIR(cuStreamGetId, (CUstream stream, unsigned long long *id), stream, id)

static CUresult do_cuStreamGetCtx(CUstream stream, CUcontext *ctx, bool per_thread) {
  const struct CUstream_st *s = stream_of(stream, per_thread);
  if (s == NULL) return CUDA_ERROR_INVALID_HANDLE;
  if (ctx == NULL) return CUDA_ERROR_INVALID_VALUE;
  *ctx = s->ctx;
  return CUDA_SUCCESS;
}
STREAM_PAIR(cuStreamGetCtx, (CUstream stream, CUcontext *ctx), stream, ctx)

static CUresult do_cuStreamGetDevice(CUstream stream, CUdevice *device, bool per_thread) {
  const struct CUstream_st *s = stream_of(stream, per_thread);
  if (s == NULL) return CUDA_ERROR_INVALID_HANDLE;
  if (device == NULL) return CUDA_ERROR_INVALID_VALUE;
  *device = s->ctx->device;
  return CUDA_SUCCESS;
}
STREAM_PAIR(cuStreamGetDevice, (CUstream stream, CUdevice *device), stream, device)

static CUresult do_cuStreamAttachMemAsync(CUstream stream, CUdeviceptr dptr, size_t size, unsigned int flags, bool per_thread) {
  struct memory m;
  (void)size;
  (void)flags;
  if (stream_of(stream, per_thread) == NULL) return CUDA_ERROR_INVALID_HANDLE;
  return memory_find(dptr, &m) && m.kind == MEMORY_MANAGED ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
STREAM_PAIR(cuStreamAttachMemAsync, (CUstream stream, CUdeviceptr dptr, size_t size, unsigned int flags), stream, dptr, size,
            flags)
