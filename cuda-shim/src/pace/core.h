/*
 * Pacing, as spec 5.7 has it: the launches of a thread on a stream are cut into slices of about 1 ms, the ends marked by
 * events, at most two of them unfinished, and each paid for by what the events measured. A slice opens when the bucket of the
 * container says so. The objects here know neither the driver nor the real time (world.h).
 *
 * Threads: each has a `pace_thread` of its own, whose lock others take only to bury a stream, a context or the thread itself.
 */
#ifndef VGPU_PACE_CORE_H
#define VGPU_PACE_CORE_H

#include "cover.h"
#include "interval.h"
#include "lock.h"
#include "policy.h"
#include "turn.h"
#include "world.h"

enum {
  PACE_ENTRIES = 8,    /* streams that a thread can use at once without losing what it learned */
  PACE_SLICES = 32,    /* unfinished slices of a thread */
  PACE_UNFINISHED = 2, /* of one stream; more only after an escape */
  PACE_QUEUED = 12,    /* likewise while nobody else wants the card */
  PACE_MOST_LAUNCHES = 256,
  PACE_CONTEXTS = 16,
  PACE_EVENTS = 64, /* kept for later, by context */
  PACE_THREADS = 1024,
  PACE_NOBODY = 255
};

#define PACE_GAP_NS (500 * INT64_C(1000)) /* a pause of the host that is not the GPU's time */
#define PACE_STEP_NS (50 * INT64_C(1000)) /* shortest sleep: shorter ones take as long */
#define PACE_NAP_NS (2 * PACE_MS)         /* longest one */

/* Events of one context, and the event whose time is known, from which all others are reckoned. */
struct pace_context {
  pace_handle handle; /* 0: unused */
  bool lost;          /* it has failed: nothing is measured any more */
  vgpu_lock lock;
  pace_handle base;
  int64_t base_ns; /* when it happened, on the host's clock */
  uint32_t events;
  pace_handle event[PACE_EVENTS];
};

struct pace_slice {
  struct pace_context *context; /* null: unused */
  pace_handle start;            /* 0: begins where the one before ends, or begun_ns is known */
  pace_handle end;              /* 0: open */
  uint64_t number;              /* in its thread, from 1 */
  uint64_t after;               /* the slice at whose end this one begins; 0: none */
  const void *what;             /* the graph; null for kernels */
  int64_t opened_ns;            /* by the host's clock */
  int64_t closed_ns;
  int64_t begun_ns;     /* on the GPU, 0: not known yet */
  int64_t predicted_ns; /* what is counted as in flight for it */
  uint32_t launches;
  uint32_t planned; /* launches after which it closes */
  uint8_t entry;    /* PACE_NOBODY once its stream has lost its place */
  uint8_t device;
  bool sparse; /* the host paused in it: what the events say includes the pause */
};

/* One stream, as one thread uses it. */
struct pace_entry {
  pace_handle key; /* 0: unused */
  int32_t left;    /* launches that may pass without a look: the fast path counts it down */
  int32_t granted; /* what it was when it was last set */
  struct pace_context *context;
  struct pace_slice *open;
  int64_t mean_ns;       /* of a launch; 0: unknown */
  int64_t graph_mean_ns; /* likewise of `graph` */
  const void *graph;
  uint64_t last;       /* number of the newest slice */
  int64_t launched_ns; /* last launch, kept while watched */
  uint32_t count;      /* launches of a slice of kernels */
  uint8_t unfinished;
  uint8_t device;
  bool watched; /* each launch looks at the clock, since slices took long on the host */
  bool probe;   /* the last slice taught nothing: the next is a single launch, which is exact */
};

struct pace_thread {
  struct pace_entry entries[PACE_ENTRIES];
  vgpu_lock lock;
  _Atomic int id;            /* 0: nobody's */
  _Atomic int64_t oldest_ns; /* opening of the oldest unfinished slice, 0: none */
  uint32_t unfinished;
  uint64_t numbers;
  struct pace_slice slices[PACE_SLICES];
};
_Static_assert(sizeof(struct pace_thread) <= 4096, "a page each");

/* One card, as this process uses it. */
struct pace_device {
  vgpu_lock lock;
  struct pace_policy policy;
  struct pace_turn turn;
  struct pace_cover cover;
  uint32_t multiprocessors; /* the most that a context of ours has had */
  uint32_t told;            /* 1: that the partition does not hold was said */
  int64_t reaped_ns;
  int64_t posted_ns; /* end of the last interval in the ring */
};

struct pace {
  const struct pace_world *world;
  const struct vgpu_shared *shared;
  struct pace_flight flight;
  atomic_uint unfinished; /* slices of all threads */
  atomic_uint threads;    /* blocks ever used, from 0 */
  int64_t _Atomic swept_ns;
  struct pace_device devices[VGPU_MAX_DEVICES];
  vgpu_lock contexts_lock;
  atomic_uint contexts_used;
  struct pace_context contexts[PACE_CONTEXTS];
  struct pace_thread *thread; /* PACE_THREADS of them, all zero at first */
};

/* `p` and `threads` are all zero before; `slot` is ours. */
void pace_init(struct pace *p, const struct pace_world *world, const struct vgpu_shared *shared, uint32_t slot,
               struct pace_thread *threads);

/* ---- thread.c */

/* The calling thread's block; null if all are taken: its launches pass unmeasured. */
struct pace_thread *pace_thread_claim(struct pace *p);
/* Settles what threads have left that are gone. Now and then. */
void pace_sweep(struct pace *p, int64_t now_ns);
/* Publishes when the oldest unfinished slice of the process opened. */
void pace_publish_oldest(struct pace *p, struct pace_thread *t);

/* ---- context.c */

struct pace_context *pace_context_of(struct pace *p, pace_handle handle); /* null: no room for one more */
pace_handle pace_event_take(struct pace *p, struct pace_context *c);      /* 0: none to be had */
void pace_event_give(struct pace *p, struct pace_context *c, pace_handle event);
/* When an event happened, on the host's clock. `not_before`: the host had not yet recorded it. */
enum pace_reach pace_when(struct pace *p, struct pace_context *c, pace_handle event, int64_t not_before_ns, int64_t *ns);
/* This event becomes the one from which others are reckoned. True: it did, and is the context's now. */
bool pace_rebase(struct pace *p, struct pace_context *c, pace_handle event, int64_t ns);
/* The context is about to go: everything of it is dropped, what is unfinished is paid by estimate. */
void pace_context_gone(struct pace *p, pace_handle handle);

/* ---- slice.c: with the thread's lock held */

struct pace_entry *pace_entry_of(struct pace *p, struct pace_thread *t, pace_handle key, struct pace_context *c,
                                 uint8_t device);
/* The oldest unfinished slice of an entry, null: none. */
struct pace_slice *pace_oldest(struct pace_thread *t, const struct pace_entry *e);
/* What one launch is expected to take; 0: unknown. */
int64_t pace_mean(const struct pace_entry *e, const void *what);
/* False: it could not be marked; the launches pass unmeasured. */
bool pace_open(struct pace *p, struct pace_thread *t, struct pace_entry *e, const void *what, int64_t room_ns,
               int64_t runahead_ns);
/* Counts the launches that the fast path has let pass, and stops it. */
void pace_collect(struct pace_entry *e);
void pace_close(struct pace *p, struct pace_thread *t, struct pace_entry *e);
void pace_close_all(struct pace *p, struct pace_thread *t);
void pace_learn(struct pace_entry *e, const struct pace_slice *s, int64_t elapsed_ns, bool beside_others);
/* The stream's place is given up; what it has in flight stays to be settled. */
void pace_entry_drop(struct pace *p, struct pace_thread *t, struct pace_entry *e);

/* ---- settle.c: with the thread's lock held */

/* Pays for the slices that have finished. */
void pace_settle(struct pace *p, struct pace_thread *t);
/* Pays a slice by estimate and forgets it. `destroy`: its events too, since their context goes. */
void pace_abandon(struct pace *p, struct pace_thread *t, struct pace_slice *s, bool destroy);

/* ---- admit.c */

/* Terms of the moment; false: the device has no limits. */
bool pace_terms(struct pace *p, uint8_t device, struct pace_terms *terms, struct pace_load *load);
/* Returns, with the thread's lock held as before, when a slice may open; *room_ns as turn_wait gives it. */
void pace_admit(struct pace *p, struct pace_thread *t, struct pace_entry *e, const void *what, int64_t *room_ns);

/* ---- space.c */

/* How this process runs on a card that limits want partitioned by MPS. */
struct pace_space {
  bool holds;  /* nothing of this process runs on more multiprocessors than its share */
  bool alone;  /* no other process of the container has anything on the card */
  bool shared; /* other clients of MPS run at the same time: nobody takes turns */
};
/* Asks the driver for the context that is current. What does not hold is said and counted once. */
struct pace_space pace_space_look(struct pace *p, uint8_t device, const struct vgpu_limit *limit);

/* ---- launch.c: without locks */

/* One launch, for which the fast path (fast.h) had no word. What before returns goes into after. */
struct pace_entry *pace_before(struct pace *p, struct pace_thread *t, pace_handle stream, uint8_t device, const void *graph);
void pace_after(struct pace *p, struct pace_thread *t, struct pace_entry *e);
/* The thread is about to wait for the GPU. */
void pace_pause(struct pace *p, struct pace_thread *t);
/* The stream is about to go. */
void pace_stream_gone(struct pace *p, pace_handle stream);

#endif
