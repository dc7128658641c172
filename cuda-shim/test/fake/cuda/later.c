/*
 * What waits for the host: functions that a stream calls, values in memory that it waits for, and all work behind them in
 * the same stream. One thread does it, made when first needed.
 */
#include <signal.h>
#include <time.h>

#include "driver.h"

enum { POLL_NS = 50000, STREAMS = 4096 };

static pthread_mutex_t later_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t more = PTHREAD_COND_INITIALIZER;
static struct CUstream_st *streams[STREAMS]; /* those with something to do */
static int stream_count;
static bool thread_made;

void later_nap(void) {
  const struct timespec t = {.tv_nsec = POLL_NS};
  (void)nanosleep(&t, NULL);
}

static bool runnable(struct CUstream_st *s, const struct later *l) {
  switch (l->kind) {
    case LATER_CALL: return lane_done(s->ctx->lane, s->last);
    case LATER_UNTIL: return lane_done(s->ctx->lane, s->last) && l->until(l);
    case LATER_AFTER: return l->event->waiting == 0 && (l->event->lane == NULL || lane_done(l->event->lane, l->event->number));
    case LATER_KERNEL:
    case LATER_RECORD: return true;
  }
  return true;
}

static void run(struct CUstream_st *s, struct later *l) {
  switch (l->kind) {
    case LATER_KERNEL: stream_note(s, lane_push(s->ctx->lane, l->work_ns, l->kernels, NULL)); return;
    case LATER_RECORD:
      stream_note(s, lane_push(s->ctx->lane, 0, 0, l->event));
      l->event->waiting--;
      return;
    case LATER_CALL:
      if (l->call_stream != NULL) l->call_stream(s, CUDA_SUCCESS, l->data);
      if (l->call != NULL) l->call(l->data);
      if (l->owned) free(l->data);
      return;
    case LATER_UNTIL:
    case LATER_AFTER: return;
  }
}

/* The first of the streams that can go on, with its work taken off. Under the lock. */
static struct later *take(struct CUstream_st **stream) {
  for (int i = 0; i < stream_count; i++) {
    struct CUstream_st *s = streams[i];
    struct later *l = s->later;
    if (!runnable(s, l)) continue;
    s->later = l->next;
    if (s->later == NULL) s->later_end = &s->later;
    /* Off the list while it runs, so that nobody runs the next before this one has ended. */
    streams[i] = streams[--stream_count];
    *stream = s;
    return l;
  }
  return NULL;
}

static void *work(void *unused) {
  (void)pthread_mutex_lock(&later_lock);
  for (;;) {
    struct CUstream_st *s = NULL;
    while (stream_count == 0) (void)pthread_cond_wait(&more, &later_lock);
    struct later *l = take(&s);
    (void)pthread_mutex_unlock(&later_lock);
    if (l == NULL) {
      later_nap();
    } else {
      run(s, l);
      free(l);
    }
    (void)pthread_mutex_lock(&later_lock);
    if (l == NULL) continue;
    if (s->later != NULL) streams[stream_count++] = s;
    s->waiting--;
  }
  return unused;
}

/* The application's signals are for its own threads. */
static void make_thread(void) {
  pthread_t thread;
  sigset_t all, before;
  (void)sigfillset(&all);
  (void)pthread_sigmask(SIG_SETMASK, &all, &before);
  thread_made = pthread_create(&thread, NULL, work, NULL) == 0 && pthread_detach(thread) == 0;
  (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void stream_later(struct CUstream_st *s, const struct later *what) {
  struct later *l = malloc(sizeof *l);
  if (l == NULL) abort(); /* a test machine out of memory: nothing that follows could be believed */
  *l = *what;
  l->next = NULL;
  (void)pthread_mutex_lock(&later_lock);
  if (!thread_made) make_thread();
  bool idle = s->waiting == 0;
  s->waiting++;
  bool listed = s->later != NULL;
  *s->later_end = l;
  s->later_end = &l->next;
  /* A stream whose only work is running now comes back to the list by the thread itself. */
  if (idle && !listed && stream_count < STREAMS) streams[stream_count++] = s;
  (void)pthread_cond_signal(&more);
  (void)pthread_mutex_unlock(&later_lock);
}

void later_drain(struct CUstream_st *s) {
  while (s->waiting > 0) later_nap();
}

void stream_wait(struct CUstream_st *s) {
  if (s->legacy) {
    context_wait(s->ctx, true);
    return;
  }
  later_drain(s);
  lane_wait(s->ctx->lane, s->last);
}

static bool anything_waits(struct CUctx_st *ctx, bool blocking_only) {
  (void)pthread_mutex_lock(&driver_lock);
  bool waits = ctx->legacy->waiting > 0;
  for (const struct CUstream_st *s = ctx->streams; s != NULL; s = s->next) {
    waits = waits || (s->waiting > 0 && !(blocking_only && (s->flags & CU_STREAM_NON_BLOCKING) != 0));
  }
  (void)pthread_mutex_unlock(&driver_lock);
  return waits;
}

void context_wait(struct CUctx_st *ctx, bool blocking_only) {
  while (anything_waits(ctx, blocking_only)) later_nap();
  lane_wait(ctx->lane, blocking_only ? ctx->last_blocking : ctx->last);
}

/* ---- the interface --------------------------------------------------------------------------------------------------- */

static CUresult do_cuLaunchHostFunc(CUstream stream, CUhostFn fn, void *data, bool per_thread) {
  struct CUstream_st *s = stream_of(stream, per_thread);
  if (s == NULL) return CUDA_ERROR_INVALID_HANDLE;
  if (fn == NULL) return CUDA_ERROR_INVALID_VALUE;
  return stream_host(s, fn, data);
}
STREAM_PAIR(cuLaunchHostFunc, (CUstream stream, CUhostFn fn, void *data), stream, fn, data)

static CUresult do_cuStreamAddCallback(CUstream stream, CUstreamCallback fn, void *data, unsigned int flags, bool per_thread) {
  struct CUstream_st *s = stream_of(stream, per_thread);
  if (s == NULL) return CUDA_ERROR_INVALID_HANDLE;
  if (fn == NULL || flags != 0) return CUDA_ERROR_INVALID_VALUE;
  if (s->capture != NULL) return capture_break(s);
  stream_later(s, &(struct later){.kind = LATER_CALL, .call_stream = fn, .data = data});
  return CUDA_SUCCESS;
}
STREAM_PAIR(cuStreamAddCallback, (CUstream stream, CUstreamCallback fn, void *data, unsigned int flags), stream, fn, data,
            flags)

/* The value is the program's own memory, which it may write at any moment: that race is the interface's. */
__attribute__((no_sanitize("thread"))) static bool value_is_there(const struct later *l) {
  bool wide = (l->flags & 0x100u) != 0;
  uint64_t now = wide ? *(const volatile uint64_t *)l->address : *(const volatile uint32_t *)l->address;
  switch (l->flags & 3u) {
    case 0: return wide ? (int64_t)(now - l->value) >= 0 : (int32_t)((uint32_t)now - (uint32_t)l->value) >= 0;
    case 1: return now == l->value;
    case 2: return (now & l->value) != 0;
    default: return ~(now | l->value) != 0;
  }
}

static CUresult wait_value(CUstream stream, CUdeviceptr address, uint64_t value, unsigned flags, bool wide, bool per_thread) {
  struct CUstream_st *s = stream_of(stream, per_thread);
  if (s == NULL) return CUDA_ERROR_INVALID_HANDLE;
  if (address == 0 || s->capture != NULL) return CUDA_ERROR_INVALID_VALUE;
  stream_later(s, &(struct later){.kind = LATER_UNTIL,
                                  .until = value_is_there,
                                  .address = (const volatile void *)(uintptr_t)address,
                                  .value = value,
                                  .flags = (flags & 3u) | (wide ? 0x100u : 0u)});
  return CUDA_SUCCESS;
}

struct written {
  CUdeviceptr address;
  uint64_t value;
  bool wide;
};

static void write_now(void *data) {
  const struct written *w = data;
  if (w->wide) {
    *(volatile uint64_t *)(uintptr_t)w->address = w->value;
  } else {
    *(volatile uint32_t *)(uintptr_t)w->address = (uint32_t)w->value;
  }
}

static CUresult write_value(CUstream stream, CUdeviceptr address, uint64_t value, bool wide, bool per_thread) {
  struct CUstream_st *s = stream_of(stream, per_thread);
  if (s == NULL) return CUDA_ERROR_INVALID_HANDLE;
  if (address == 0 || s->capture != NULL) return CUDA_ERROR_INVALID_VALUE;
  struct written *w = malloc(sizeof *w);
  if (w == NULL) return CUDA_ERROR_OUT_OF_MEMORY;
  *w = (struct written){address, value, wide};
  stream_later(s, &(struct later){.kind = LATER_CALL, .call = write_now, .data = w, .owned = true});
  return CUDA_SUCCESS;
}

#define VALUE_PAIRS(bits, wide)                                                                                            \
  static CUresult do_cuStreamWaitValue##bits##_v2(CUstream s, CUdeviceptr a, uint##bits##_t v, unsigned int f, bool pt) {  \
    return wait_value(s, a, v, f, wide, pt);                                                                               \
  }                                                                                                                        \
  STREAM_PAIR(cuStreamWaitValue##bits##_v2, (CUstream s, CUdeviceptr a, uint##bits##_t v, unsigned int f), s, a, v, f)     \
  static CUresult do_cuStreamWriteValue##bits##_v2(CUstream s, CUdeviceptr a, uint##bits##_t v, unsigned int f, bool pt) { \
    (void)f;                                                                                                               \
    return write_value(s, a, v, wide, pt);                                                                                 \
  }                                                                                                                        \
  STREAM_PAIR(cuStreamWriteValue##bits##_v2, (CUstream s, CUdeviceptr a, uint##bits##_t v, unsigned int f), s, a, v, f)
VALUE_PAIRS(32, false)
VALUE_PAIRS(64, true)
