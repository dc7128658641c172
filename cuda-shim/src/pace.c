/* The world of pace/ as it is in a container: the driver, the kernel, and the calling thread. */
#include "pace.h"

#include "hooks.h"
#include "log.h"
#include "pace/fast.h"
#include "sys.h"

enum { WIPE_ON_FORK = 18 /* MADV_WIPEONFORK */, NO_SUCH_THREAD = -3 /* ESRCH */ };

static const uint32_t never_limited;
static const uint32_t always_limited = VGPU_LIMIT_COMPUTE;

_Atomic(const uint32_t *) vgpu_pace_flags = &never_limited;

/* Pages that a forked child finds empty: it has no context, no slice and no event of its parent's. */
struct state {
  struct pace pace;
  struct pace_world world;
  int pid;
};
static _Atomic(struct state *) state;
static atomic_uint generation; /* of the state: a block that a thread had before is not its own any more */

_Thread_local struct pace_thread *vgpu_pace_self __attribute__((tls_model("initial-exec")));
static _Thread_local unsigned int self_generation __attribute__((tls_model("initial-exec")));

/* ---- the world */

static const struct vgpu_cuda *cuda_of(void *self) { return self; }
static pace_handle handle_of(const void *pointer) { return (pace_handle)(uintptr_t)pointer; }
static CUstream stream_of(pace_handle h) { return (CUstream)(uintptr_t)h; }
static CUevent event_of(pace_handle h) { return (CUevent)(uintptr_t)h; }

static int64_t world_now(void *self) {
  (void)self;
  return sys_monotonic_ns();
}
static void world_sleep(void *self, int64_t ns) {
  (void)self;
  sys_sleep_ns(ns);
}
static void world_wait(void *self, const uint32_t *word, uint32_t value, int64_t ns) {
  (void)self;
  (void)sys_futex(word, 0, value, ns);
}
static pace_handle world_context(void *self) {
  CUcontext ctx = NULL;
  return cuda_of(self)->cuCtxGetCurrent(&ctx) == CUDA_SUCCESS ? handle_of(ctx) : 0;
}
static pace_handle world_create(void *self) {
  CUevent event = NULL;
  return cuda_of(self)->cuEventCreate(&event, 0) == CUDA_SUCCESS ? handle_of(event) : 0;
}
static void world_destroy(void *self, pace_handle event) { (void)cuda_of(self)->cuEventDestroy_v2(event_of(event)); }
static bool world_record(void *self, pace_handle event, pace_handle stream) {
  return cuda_of(self)->cuEventRecord(event_of(event), stream_of(stream)) == CUDA_SUCCESS;
}
static enum pace_reach reach(CUresult result) {
  return result == CUDA_SUCCESS ? PACE_REACHED : result == CUDA_ERROR_NOT_READY ? PACE_AHEAD : PACE_LOST;
}
static enum pace_reach world_query(void *self, pace_handle event) {
  return reach(cuda_of(self)->cuEventQuery(event_of(event)));
}
static enum pace_reach world_elapsed(void *self, pace_handle from, pace_handle to, int64_t *ns) {
  float ms = 0;
  enum pace_reach r = reach(cuda_of(self)->cuEventElapsedTime(&ms, event_of(from), event_of(to)));
  if (!(ms > -1e9f && ms < 1e9f)) ms = 0;
  *ns = (int64_t)((double)ms * 1e6);
  return r;
}
static bool world_any_capture(void *self) {
  (void)self;
  return atomic_load_explicit(&vgpu_captures, memory_order_relaxed) > 0;
}
/* An event on the legacy stream would join whatever is recorded, and spoil it. */
static bool world_capturing(void *self, pace_handle stream) {
  return stream == PACE_LEGACY || vgpu_capturing(cuda_of(self), stream_of(stream), stream == PACE_PER_THREAD);
}
static int world_relax(void *self) {
  CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
  return cuda_of(self)->cuThreadExchangeStreamCaptureMode(&mode) == CUDA_SUCCESS ? (int)mode : -1;
}
static void world_restore(void *self, int mode) {
  CUstreamCaptureMode before = (CUstreamCaptureMode)mode;
  if (mode >= 0) (void)cuda_of(self)->cuThreadExchangeStreamCaptureMode(&before);
}
static uint32_t world_multiprocessors(void *self, uint8_t device, bool *shared) {
  const struct vgpu_cuda *cuda = cuda_of(self);
  CUdevice d = vgpu_device_of_entry(device);
  int count = 0, mps = 0;
  *shared = d < 0 || cuda->cuDeviceGetAttribute(&mps, CU_DEVICE_ATTRIBUTE_MPS_ENABLED, d) != CUDA_SUCCESS || mps != 0;
  if (d < 0 || cuda->cuDeviceGetAttribute(&count, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, d) != CUDA_SUCCESS) return 0;
  return count > 0 ? (uint32_t)count : 0;
}
static void world_reap(void *self) {
  (void)self;
  (void)vgpu_reap(vgpu_shared());
}
static int world_thread_id(void *self) {
  (void)self;
  return sys_gettid();
}
static bool world_thread_lives(void *self, int id) {
  (void)self;
  return sys_tgkill(sys_getpid(), id, 0) != NO_SUCH_THREAD;
}

/* In code, not in a table: that would be relocations, which every process pays for. */
static void fill(struct pace_world *w, const struct vgpu_cuda *cuda) {
  w->now_ns = world_now;
  w->sleep = world_sleep;
  w->wait = world_wait;
  w->context = world_context;
  w->event_create = world_create;
  w->event_destroy = world_destroy;
  w->event_record = world_record;
  w->event_query = world_query;
  w->event_elapsed = world_elapsed;
  w->any_capture = world_any_capture;
  w->capturing = world_capturing;
  w->relax = world_relax;
  w->restore = world_restore;
  w->multiprocessors = world_multiprocessors;
  w->reap = world_reap;
  w->thread_id = world_thread_id;
  w->thread_lives = world_thread_lives;
  w->self = (void *)(uintptr_t)cuda;
}

/* ---- the start */

static void *wiped_pages(size_t bytes) {
  void *pages = sys_pages(bytes);
  if (pages != NULL) (void)sys_madvise(pages, bytes, WIPE_ON_FORK);
  return pages;
}

void vgpu_pace_start(const struct vgpu_cuda *cuda, const struct vgpu_shared *shared) {
  struct vgpu_process *me = vgpu_process();
  if (me == NULL || shared->mode != VGPU_ACTIVE) return;
  struct state *s = wiped_pages(sizeof *s);
  struct pace_thread *t = wiped_pages(PACE_THREADS * sizeof *t);
  if (s == NULL || t == NULL) {
    vgpu_log(VGPU_LOG_ERROR, "no memory for the limiter: launches are not limited", NULL, -1);
    return;
  }
  fill(&s->world, cuda);
  s->pid = sys_getpid();
  pace_init(&s->pace, &s->world, shared, me->slot, t);
  struct state *old = atomic_load(&state);
  if (old != NULL && old->pid == s->pid) return; /* another thread was quicker; its pages stay, ours are never touched */
  if (!atomic_compare_exchange_strong(&state, &old, s)) return;
  atomic_fetch_add(&generation, 1);
  CUdevice only = vgpu_only_device();
  uint8_t entry = only >= 0 ? vgpu_entry_of_device(only) : VGPU_NO_ENTRY;
  const uint32_t *flags = only < 0                 ? &always_limited
                          : entry == VGPU_NO_ENTRY ? &never_limited
                                                   : &shared->limits->devices[entry].flags;
  atomic_store(&vgpu_pace_flags, flags);
}

/* Null in a process, or a forked child, that has not started. */
static struct pace *started(void) {
  struct state *s = atomic_load_explicit(&state, memory_order_acquire);
  return s != NULL && s->world.now_ns != NULL ? &s->pace : NULL;
}

static struct pace_thread *self(struct pace *p) {
  unsigned int now = atomic_load_explicit(&generation, memory_order_relaxed);
  if (vgpu_pace_self != NULL && self_generation == now) return vgpu_pace_self;
  vgpu_pace_self = pace_thread_claim(p);
  self_generation = now;
  return vgpu_pace_self;
}

/* ---- launches */

static uint8_t entry_now(const struct vgpu_cuda *cuda) {
  CUdevice device = vgpu_only_device();
  if (device < 0 && cuda->cuCtxGetDevice(&device) != CUDA_SUCCESS) return VGPU_NO_ENTRY;
  return vgpu_entry_of_device(device);
}

void vgpu_pace_before(struct vgpu_launch *launch) {
  launch->slice = NULL;
  struct pace *p = started();
  if (p == NULL) return;
  uint8_t entry = entry_now(launch->cuda);
  struct pace_thread *t = entry == VGPU_NO_ENTRY ? NULL : self(p);
  if (t == NULL) return;
  pace_handle stream = vgpu_pace_key(launch->stream, launch->per_thread);
  launch->slice = pace_before(p, t, stream, entry, launch->graph ? launch->what : NULL);
}

void vgpu_pace_after(struct vgpu_launch *launch, bool launched) {
  (void)launched; /* one that was refused has cost nothing, and shortens its slice */
  struct pace *p = launch->slice == NULL ? NULL : started();
  if (p != NULL) pace_after(p, vgpu_pace_self, launch->slice);
}

void vgpu_pace_wait(const struct vgpu_cuda *cuda) {
  (void)cuda;
  struct pace *p = started();
  if (p != NULL && vgpu_pace_self != NULL && self_generation == atomic_load_explicit(&generation, memory_order_relaxed))
    pace_pause(p, vgpu_pace_self);
}

void vgpu_pace_stream_gone(CUstream stream) {
  struct pace *p = started();
  if (p != NULL) pace_stream_gone(p, handle_of(stream));
}

void vgpu_pace_context_gone(CUcontext ctx) {
  struct pace *p = started();
  if (p != NULL) pace_context_gone(p, handle_of(ctx));
}

/* What is known of a graph is known by its handle, which a later one may have: it then begins with a wrong guess. */
void vgpu_pace_graph_gone(CUgraphExec graph) { (void)graph; }
