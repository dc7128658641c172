/* Events: marks in the queue whose times come from the virtual clock. */
#include "driver.h"

static bool valid(const struct CUevent_st *e) { return e != NULL && e->magic == MAGIC_EVENT && context_valid(e->ctx); }

CUresult cuEventCreate(CUevent *event, unsigned int flags);
CUresult cuEventCreate(CUevent *event, unsigned int flags) {
  ENTER_CTX;
  if (event == NULL || flags > 7 || ((flags & CU_EVENT_INTERPROCESS) != 0 && (flags & CU_EVENT_DISABLE_TIMING) == 0)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  struct CUevent_st *e = calloc(1, sizeof *e);
  if (e == NULL) return CUDA_ERROR_OUT_OF_MEMORY;
  e->magic = MAGIC_EVENT;
  e->ctx = ctx;
  e->flags = flags;
  *event = e;
  return CUDA_SUCCESS;
}

static CUresult destroy(struct CUevent_st *e) {
  if (!valid(e)) return CUDA_ERROR_INVALID_HANDLE;
  while (e->waiting > 0) later_nap();
  if (e->lane != NULL) lane_unmark(e->lane, e);
  e->magic = MAGIC_GONE;
  free(e);
  return CUDA_SUCCESS;
}

CUresult cuEventDestroy(CUevent event);
CUresult cuEventDestroy(CUevent event) {
  ENTER;
  return destroy(event);
}

CUresult cuEventDestroy_v2(CUevent event);
CUresult cuEventDestroy_v2(CUevent event) {
  ENTER;
  return destroy(event);
}

static CUresult record(CUevent event, CUstream stream, bool per_thread) {
  struct CUstream_st *s = stream_of(stream, per_thread);
  if (s == NULL) return context_current() == NULL ? CUDA_ERROR_INVALID_CONTEXT : CUDA_ERROR_INVALID_HANDLE;
  if (!valid(event) || event->ctx != s->ctx) return CUDA_ERROR_INVALID_HANDLE;
  if (s->capture != NULL) return capture_record(s, event);
  CUresult implicit = capture_legacy(s);
  if (implicit != CUDA_SUCCESS) return implicit;
  event->capture = NULL;
  if (event->lane != NULL) lane_unmark(event->lane, event);
  if (s->waiting > 0) {
    event->waiting++;
    stream_later(s, &(struct later){.kind = LATER_RECORD, .event = event});
  } else {
    stream_note(s, lane_push(s->ctx->lane, 0, 0, event));
  }
  return CUDA_SUCCESS;
}

static CUresult do_cuEventRecord(CUevent event, CUstream stream, bool per_thread) { return record(event, stream, per_thread); }
STREAM_PAIR(cuEventRecord, (CUevent event, CUstream stream), event, stream)

static CUresult do_cuEventRecordWithFlags(CUevent event, CUstream stream, unsigned int flags, bool per_thread) {
  return flags > 1 ? CUDA_ERROR_INVALID_VALUE : record(event, stream, per_thread);
}
STREAM_PAIR(cuEventRecordWithFlags, (CUevent event, CUstream stream, unsigned int flags), event, stream, flags)

/* Why the event cannot be asked about, if it cannot. */
static CUresult askable(const struct CUevent_st *e) {
  if (!valid(e)) return CUDA_ERROR_INVALID_HANDLE;
  if (e->capture != NULL) return CUDA_ERROR_CAPTURED_EVENT;
  return capture_unsafe();
}

static bool done(struct CUevent_st *e) {
  return e->waiting == 0 && (e->number == 0 || e->end_ns != 0 || lane_done(e->lane, e->number));
}

CUresult cuEventQuery(CUevent event);
CUresult cuEventQuery(CUevent event) {
  ENTER;
  CUresult no = askable(event);
  if (no != CUDA_SUCCESS) return no;
  return done(event) ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}

CUresult cuEventSynchronize(CUevent event) {
  ENTER;
  CUresult no = askable(event);
  if (no != CUDA_SUCCESS) return no;
  while (event->waiting > 0) later_nap();
  if (!done(event)) lane_wait(event->lane, event->number);
  pools_settle();
  return CUDA_SUCCESS;
}

static CUresult elapsed(float *ms, CUevent start, CUevent end) {
  if (ms == NULL) return CUDA_ERROR_INVALID_VALUE;
  if (!valid(start) || !valid(end) || start->number == 0 || end->number == 0) return CUDA_ERROR_INVALID_HANDLE;
  if (((start->flags | end->flags) & CU_EVENT_DISABLE_TIMING) != 0) return CUDA_ERROR_INVALID_HANDLE;
  if (start->capture != NULL || end->capture != NULL) return CUDA_ERROR_CAPTURED_EVENT;
  if (!done(start) || !done(end)) return CUDA_ERROR_NOT_READY;
  int64_t ns = (int64_t)(lane_time(end->lane, end) - lane_time(start->lane, start));
  *ms = (float)((double)ns / 1e6);
  return CUDA_SUCCESS;
}

CUresult cuEventElapsedTime(float *ms, CUevent start, CUevent end);
CUresult cuEventElapsedTime(float *ms, CUevent start, CUevent end) {
  ENTER;
  return elapsed(ms, start, end);
}

CUresult cuEventElapsedTime_v2(float *ms, CUevent start, CUevent end);
CUresult cuEventElapsedTime_v2(float *ms, CUevent start, CUevent end) {
  ENTER;
  return elapsed(ms, start, end);
}

static CUresult do_cuStreamWaitEvent(CUstream stream, CUevent event, unsigned int flags, bool per_thread) {
  struct CUstream_st *s = stream_of(stream, per_thread);
  if (s == NULL || !valid(event)) return CUDA_ERROR_INVALID_HANDLE;
  if (flags > 1) return CUDA_ERROR_INVALID_VALUE;
  if (s->capture != NULL || event->capture != NULL) return capture_wait(s, event);
  CUresult implicit = capture_legacy(s);
  if (implicit != CUDA_SUCCESS) return implicit;
  bool elsewhere = event->lane != NULL && event->lane != s->ctx->lane;
  if (event->waiting > 0 || s->waiting > 0 || elsewhere) {
    stream_later(s, &(struct later){.kind = LATER_AFTER, .event = event});
  } else {
    stream_note(s, event->number); /* what is queued after it runs after it anyhow */
  }
  return CUDA_SUCCESS;
}
STREAM_PAIR(cuStreamWaitEvent, (CUstream stream, CUevent event, unsigned int flags), stream, event, flags)
