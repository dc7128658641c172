/* This process's queue on each card. One lock a lane, held for the few stores that queue an operation. */
#include "driver.h"

/* A full queue is waited for in pieces: room for one operation at a time would cost a sleep for each. */
enum { ROOM = 64 };

static struct lane *lanes[GPU_DEVICES];
static pthread_mutex_t open_lock = PTHREAD_MUTEX_INITIALIZER;

static struct lane *make(CUdevice d) {
  struct lane *lane = calloc(1, sizeof *lane);
  if (lane == NULL) return NULL;
  lane->queue = gpu_claim_queue(&driver.gpu, card_of(d));
  if (lane->queue == NULL) {
    free(lane);
    return NULL;
  }
  lane->device = d;
  (void)pthread_mutex_init(&lane->lock, NULL);
  return lane;
}

struct lane *lane_open(CUdevice d) {
  (void)pthread_mutex_lock(&open_lock);
  if (lanes[d] == NULL) lanes[d] = make(d);
  struct lane *lane = lanes[d];
  (void)pthread_mutex_unlock(&open_lock);
  return lane;
}

/* The event keeps its time itself once its place in the ring is used again. */
static void settle_mark(struct lane *lane, uint64_t place) {
  struct CUevent_st *e = lane->marks[place];
  if (e == NULL) return;
  atomic_store(&e->end_ns, lane->queue->ops[place].end_ns);
  lane->marks[place] = NULL;
}

uint64_t lane_push(struct lane *lane, uint64_t work_ns, uint64_t kernels, struct CUevent_st *event) {
  struct gpu_queue *queue = lane->queue;
  (void)pthread_mutex_lock(&lane->lock);
  uint64_t i = atomic_load_explicit(&queue->pushed, memory_order_relaxed);
  while (i - atomic_load_explicit(&queue->done, memory_order_acquire) >= GPU_RING) {
    (void)pthread_mutex_unlock(&lane->lock);
    gpu_wait(&driver.gpu, card_of(lane->device), queue, i - GPU_RING + ROOM - 1);
    (void)pthread_mutex_lock(&lane->lock);
    i = atomic_load_explicit(&queue->pushed, memory_order_relaxed);
  }
  uint64_t place = i % GPU_RING;
  settle_mark(lane, place);
  if (event != NULL) {
    event->lane = lane;
    event->number = i + 1;
    atomic_store(&event->end_ns, 0);
    lane->marks[place] = event;
  }
  queue->ops[place] = (struct gpu_op){.arrival_ns = gpu_clock_ns(), .work_ns = work_ns, .kernels = kernels};
  atomic_store_explicit(&queue->pushed, i + 1, memory_order_release);
  (void)pthread_mutex_unlock(&lane->lock);
  return i + 1;
}

bool lane_done(struct lane *lane, uint64_t number) {
  if (atomic_load_explicit(&lane->queue->done, memory_order_acquire) >= number) return true;
  gpu_advance(&driver.gpu, card_of(lane->device));
  return atomic_load_explicit(&lane->queue->done, memory_order_acquire) >= number;
}

void lane_wait(struct lane *lane, uint64_t number) {
  if (number > 0) gpu_wait(&driver.gpu, card_of(lane->device), lane->queue, number - 1);
}

void lane_unmark(struct lane *lane, struct CUevent_st *event) {
  (void)pthread_mutex_lock(&lane->lock);
  uint64_t place = (event->number - 1) % GPU_RING;
  if (event->number > 0 && lane->marks[place] == event) lane->marks[place] = NULL;
  (void)pthread_mutex_unlock(&lane->lock);
}

uint64_t lane_time(struct lane *lane, struct CUevent_st *event) {
  (void)pthread_mutex_lock(&lane->lock);
  uint64_t ns = event->end_ns;
  if (ns == 0) ns = lane->queue->ops[(event->number - 1) % GPU_RING].end_ns;
  (void)pthread_mutex_unlock(&lane->lock);
  return ns;
}
