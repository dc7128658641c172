/*
 * Streams that record. A recording begins in one stream, spreads to those that wait for an event of it, and ends where it
 * began. Calls that would run for real meanwhile break it, by the rules of the mode; a broken one ends with an error.
 */
#include "graph.h"

struct capture {
  struct CUgraph_st *graph;
  struct CUstream_st *origin;
  CUstreamCaptureMode mode;
  pthread_t thread;
  bool broken;
  bool into_given; /* the graph is the application's */
  unsigned long long id;
  struct CUgraphNode_st *last; /* nodes follow each other: an order that any dependency allows */
  struct capture *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct capture *captures;
static struct capture *ended; /* kept, since events may still name them */
static _Atomic int active;
static unsigned long long next_id;
static _Thread_local CUstreamCaptureMode thread_mode = CU_STREAM_CAPTURE_MODE_GLOBAL;

/* Whether an unsafe call of this thread disturbs the capture. */
static bool disturbs(const struct capture *c) {
  if (thread_mode == CU_STREAM_CAPTURE_MODE_RELAXED || c->mode == CU_STREAM_CAPTURE_MODE_RELAXED) return false;
  if (pthread_equal(c->thread, pthread_self())) return true;
  return c->mode == CU_STREAM_CAPTURE_MODE_GLOBAL && thread_mode == CU_STREAM_CAPTURE_MODE_GLOBAL;
}

CUresult capture_unsafe(void) {
  CUresult result = CUDA_SUCCESS;
  if (atomic_load_explicit(&active, memory_order_relaxed) == 0) return CUDA_SUCCESS;
  (void)pthread_mutex_lock(&lock);
  for (struct capture *c = captures; c != NULL; c = c->next) {
    if (!disturbs(c)) continue;
    c->broken = true;
    result = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  }
  (void)pthread_mutex_unlock(&lock);
  return result;
}

/* Blocking streams that record; the legacy stream may not come between. */
static bool legacy_hits(const struct CUstream_st *s, bool break_them) {
  bool hit = false;
  (void)pthread_mutex_lock(&lock);
  for (struct capture *c = captures; c != NULL; c = c->next) {
    if (c->origin->ctx != s->ctx || (c->origin->flags & CU_STREAM_NON_BLOCKING) != 0) continue;
    hit = true;
    if (break_them) c->broken = true;
  }
  (void)pthread_mutex_unlock(&lock);
  return hit;
}

CUresult capture_legacy(const struct CUstream_st *s) {
  if (!s->legacy || atomic_load_explicit(&active, memory_order_relaxed) == 0) return CUDA_SUCCESS;
  return legacy_hits(s, true) ? CUDA_ERROR_STREAM_CAPTURE_IMPLICIT : CUDA_SUCCESS;
}

CUresult capture_break(struct CUstream_st *s) {
  if (s->capture != NULL) s->capture->broken = true;
  return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
}

/* ---- recording --------------------------------------------------------------------------------------------------------- */

static CUresult add(struct CUstream_st *s, const struct CUgraphNode_st *pattern) {
  struct capture *c = s->capture;
  if (c->broken) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  (void)pthread_mutex_lock(&lock);
  struct CUgraphNode_st *node = graph_add(c->graph, pattern, c->last == NULL ? NULL : &c->last, c->last == NULL ? 0 : 1);
  if (node != NULL) c->last = node;
  (void)pthread_mutex_unlock(&lock);
  return node == NULL ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_SUCCESS;
}

CUresult capture_kernel(struct CUstream_st *s, uint64_t work_ns) {
  return add(s, &(struct CUgraphNode_st){.type = CU_GRAPH_NODE_TYPE_KERNEL, .work_ns = work_ns, .kernels = 1});
}

CUresult capture_call(struct CUstream_st *s, void (*call)(void *), const void *data, size_t bytes, int type) {
  return add(s, &(struct CUgraphNode_st){.type = type, .call = call, .data = (void *)(uintptr_t)data, .data_bytes = bytes});
}

CUresult capture_host(struct CUstream_st *s, CUhostFn fn, void *data) {
  return add(s, &(struct CUgraphNode_st){.type = CU_NODE_HOST, .call = fn, .data = data});
}

CUresult capture_alloc(struct CUstream_st *s, CUdeviceptr *dptr, size_t size) {
  if (dptr == NULL || size == 0 || size > (UINT64_C(1) << 46)) return CUDA_ERROR_INVALID_VALUE;
  uint64_t mapped = (size + 4095) / 4096 * 4096;
  struct memory m = {.at = memory_map(mapped), .bytes = size, .mapped = mapped, .kind = MEMORY_GRAPH, .device = s->ctx->device};
  if (m.at == 0 || !memory_insert(&m)) return CUDA_ERROR_OUT_OF_MEMORY;
  s->capture->graph->device = s->ctx->device;
  *dptr = m.at;
  return add(s,
             &(struct CUgraphNode_st){.type = CU_GRAPH_NODE_TYPE_MEM_ALLOC, .bytes = (size + 511) / 512 * 512, .dptr = m.at});
}

CUresult capture_free(struct CUstream_st *s, CUdeviceptr dptr) {
  struct memory m;
  if (!memory_find(dptr, &m) || m.at != dptr || m.kind != MEMORY_GRAPH) return CUDA_ERROR_INVALID_VALUE;
  return add(s,
             &(struct CUgraphNode_st){.type = CU_GRAPH_NODE_TYPE_MEM_FREE, .bytes = (m.bytes + 511) / 512 * 512, .dptr = dptr});
}

CUresult capture_record(struct CUstream_st *s, struct CUevent_st *e) {
  if (s->capture->broken) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  e->capture = s->capture;
  return CUDA_SUCCESS;
}

CUresult capture_wait(struct CUstream_st *s, struct CUevent_st *e) {
  if (s->capture != NULL && e->capture == NULL) {
    if (e->number == 0) return CUDA_SUCCESS; /* never recorded: nothing to wait for */
    s->capture->broken = true;
    return CUDA_ERROR_STREAM_CAPTURE_ISOLATION;
  }
  if (s->capture != NULL && s->capture != e->capture) {
    s->capture->broken = e->capture->broken = true;
    return CUDA_ERROR_STREAM_CAPTURE_MERGE;
  }
  s->capture = e->capture;
  return CUDA_SUCCESS;
}

/* ---- begin and end ----------------------------------------------------------------------------------------------------- */

static CUresult begin(CUstream stream, CUstreamCaptureMode mode, CUgraph given, bool per_thread) {
  struct CUstream_st *s = stream_of(stream, per_thread);
  if (s == NULL) return context_current() == NULL ? CUDA_ERROR_INVALID_CONTEXT : CUDA_ERROR_INVALID_HANDLE;
  if ((int)mode < 0 || (int)mode > 2 || (given != NULL && !graph_valid(given))) return CUDA_ERROR_INVALID_VALUE;
  if (s->legacy) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  if (s->capture != NULL) return CUDA_ERROR_ILLEGAL_STATE;
  struct capture *c = calloc(1, sizeof *c);
  struct CUgraph_st *g = given != NULL ? given : graph_new();
  if (c == NULL || g == NULL) {
    free(c);
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  *c = (struct capture){.graph = g, .origin = s, .mode = mode, .thread = pthread_self(), .into_given = given != NULL};
  (void)pthread_mutex_lock(&lock);
  c->id = ++next_id;
  c->next = captures;
  captures = c;
  active++;
  s->capture = c;
  (void)pthread_mutex_unlock(&lock);
  return CUDA_SUCCESS;
}

static CUresult do_cuStreamBeginCapture(CUstream stream, bool per_thread) {
  return begin(stream, CU_STREAM_CAPTURE_MODE_GLOBAL, NULL, per_thread);
}
STREAM_PAIR(cuStreamBeginCapture, (CUstream stream), stream)

static CUresult do_cuStreamBeginCapture_v2(CUstream stream, CUstreamCaptureMode mode, bool per_thread) {
  return begin(stream, mode, NULL, per_thread);
}
STREAM_PAIR(cuStreamBeginCapture_v2, (CUstream stream, CUstreamCaptureMode mode), stream, mode)

static CUresult do_cuStreamBeginCaptureToGraph(CUstream stream, CUgraph graph, CUstreamCaptureMode mode, bool per_thread) {
  return graph == NULL ? CUDA_ERROR_INVALID_VALUE : begin(stream, mode, graph, per_thread);
}
STREAM_PAIR(cuStreamBeginCaptureToGraph,
            (CUstream stream, CUgraph graph, const CUgraphNode *dependencies, const CUgraphEdgeData *edges, size_t count,
             CUstreamCaptureMode mode),
            ((void)dependencies, (void)edges, (void)count, stream), graph, mode)

/* Takes the capture off all streams and events' reach; events that still name it are of no more use. */
static void finish(struct capture *c) {
  (void)pthread_mutex_lock(&lock);
  for (struct capture **at = &captures; *at != NULL; at = &(*at)->next) {
    if (*at != c) continue;
    *at = c->next;
    break;
  }
  c->next = ended;
  ended = c;
  active--;
  (void)pthread_mutex_unlock(&lock);
  struct CUctx_st *ctx = c->origin->ctx;
  (void)pthread_mutex_lock(&driver_lock);
  for (struct CUstream_st *s = ctx->streams; s != NULL; s = s->next) {
    if (s->capture == c) s->capture = NULL;
  }
  (void)pthread_mutex_unlock(&driver_lock);
}

static CUresult do_cuStreamEndCapture(CUstream stream, CUgraph *graph, bool per_thread) {
  struct CUstream_st *s = stream_of(stream, per_thread);
  if (s == NULL) return CUDA_ERROR_INVALID_HANDLE;
  if (graph == NULL) return CUDA_ERROR_INVALID_VALUE;
  struct capture *c = s->capture;
  *graph = NULL;
  if (c == NULL) return CUDA_ERROR_ILLEGAL_STATE;
  if (c->origin != s) {
    c->broken = true;
    return CUDA_ERROR_STREAM_CAPTURE_UNMATCHED;
  }
  if (c->mode != CU_STREAM_CAPTURE_MODE_RELAXED && !pthread_equal(c->thread, pthread_self())) {
    return CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD;
  }
  finish(c);
  if (c->broken) {
    if (!c->into_given) graph_free(c->graph);
    return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  }
  *graph = c->graph;
  return CUDA_SUCCESS;
}
STREAM_PAIR(cuStreamEndCapture, (CUstream stream, CUgraph *graph), stream, graph)

/* ---- questions --------------------------------------------------------------------------------------------------------- */

static CUstreamCaptureStatus status_of(const struct CUstream_st *s) {
  if (s->capture == NULL) return CU_STREAM_CAPTURE_STATUS_NONE;
  return s->capture->broken ? CU_STREAM_CAPTURE_STATUS_INVALIDATED : CU_STREAM_CAPTURE_STATUS_ACTIVE;
}

static CUresult do_cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus *status, bool per_thread) {
  struct CUstream_st *s = stream_of(stream, per_thread);
  if (s == NULL) return context_current() == NULL ? CUDA_ERROR_INVALID_CONTEXT : CUDA_ERROR_INVALID_HANDLE;
  if (status == NULL) return CUDA_ERROR_INVALID_VALUE;
  if (s->legacy && active > 0 && legacy_hits(s, false)) return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
  *status = status_of(s);
  return CUDA_SUCCESS;
}
STREAM_PAIR(cuStreamIsCapturing, (CUstream stream, CUstreamCaptureStatus *status), stream, status)

static CUresult info(CUstream stream, CUstreamCaptureStatus *status, cuuint64_t *id, CUgraph *graph, const CUgraphNode **nodes,
                     size_t *count, bool per_thread) {
  struct CUstream_st *s = stream_of(stream, per_thread);
  if (s == NULL) return context_current() == NULL ? CUDA_ERROR_INVALID_CONTEXT : CUDA_ERROR_INVALID_HANDLE;
  if (status == NULL) return CUDA_ERROR_INVALID_VALUE;
  if (s->legacy && active > 0 && legacy_hits(s, false)) return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
  *status = status_of(s);
  if (*status != CU_STREAM_CAPTURE_STATUS_ACTIVE) return CUDA_SUCCESS;
  if (id != NULL) *id = s->capture->id;
  if (graph != NULL) *graph = s->capture->graph;
  if (count != NULL) *count = s->capture->last == NULL ? 0 : 1;
  if (nodes != NULL) *nodes = &s->capture->last;
  return CUDA_SUCCESS;
}

static CUresult do_cuStreamGetCaptureInfo(CUstream stream, CUstreamCaptureStatus *status, cuuint64_t *id, bool per_thread) {
  return info(stream, status, id, NULL, NULL, NULL, per_thread);
}
STREAM_PAIR(cuStreamGetCaptureInfo, (CUstream stream, CUstreamCaptureStatus *status, cuuint64_t *id), stream, status, id)

static CUresult do_cuStreamGetCaptureInfo_v2(CUstream stream, CUstreamCaptureStatus *status, cuuint64_t *id, CUgraph *graph,
                                             const CUgraphNode **nodes, size_t *count, bool per_thread) {
  return info(stream, status, id, graph, nodes, count, per_thread);
}
STREAM_PAIR(cuStreamGetCaptureInfo_v2,
            (CUstream stream, CUstreamCaptureStatus *status, cuuint64_t *id, CUgraph *graph, const CUgraphNode **nodes,
             size_t *count),
            stream, status, id, graph, nodes, count)

CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode);
CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode) {
  ENTER_OPEN; /* needs no context, and makes none */
  if (mode == NULL || (int)*mode < 0 || (int)*mode > 2) return CUDA_ERROR_INVALID_VALUE;
  CUstreamCaptureMode before = thread_mode;
  thread_mode = *mode;
  *mode = before;
  return CUDA_SUCCESS;
}
