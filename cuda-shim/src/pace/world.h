/*
 * Everything that pacing needs from outside: clock, sleep, events. The library fills it from the driver and the kernel, unit
 * tests and the simulator with a time of their own, so that what they drive is the very code that goes into containers.
 */
#ifndef VGPU_PACE_WORLD_H
#define VGPU_PACE_WORLD_H

#include <stdbool.h>
#include <stdint.h>

/* A driver's handle: stream, event or context. 0 is none; as streams 1 and 2 are the legacy and the thread's own. */
typedef uint64_t pace_handle;

enum { PACE_LEGACY = 1, PACE_PER_THREAD = 2 };

enum pace_reach {
  PACE_REACHED,
  PACE_AHEAD, /* not yet */
  PACE_LOST   /* nobody will ever know: the context has failed */
};

struct pace_world {
  int64_t (*now_ns)(void *self); /* CLOCK_MONOTONIC of the container */
  void (*sleep)(void *self, int64_t ns);
  /* until *word is not `value`, somebody wakes it, or the time is over */
  void (*wait)(void *self, const uint32_t *word, uint32_t value, int64_t ns);

  pace_handle (*context)(void *self);      /* current in this thread, 0: none */
  pace_handle (*event_create)(void *self); /* 0 on failure */
  void (*event_destroy)(void *self, pace_handle event);
  bool (*event_record)(void *self, pace_handle event, pace_handle stream);
  enum pace_reach (*event_query)(void *self, pace_handle event);
  enum pace_reach (*event_elapsed)(void *self, pace_handle from, pace_handle to, int64_t *ns);

  /* whether any stream of the process records a graph; whether this one does, or must not be touched meanwhile */
  bool (*any_capture)(void *self);
  bool (*capturing)(void *self, pace_handle stream);
  /* while a graph is recorded our own calls must not break it: what `relax` returns goes back into `restore` */
  int (*relax)(void *self);
  void (*restore)(void *self, int mode);

  /* of the entry's card, as far as work of the context that is current in this thread may run on them; 0: unknown. `shared`:
   * contexts are MPS's, or nobody can tell */
  uint32_t (*multiprocessors)(void *self, uint8_t device, bool *shared);

  void (*reap)(void *self); /* frees the slots of dead processes of the container */
  int (*thread_id)(void *self);
  bool (*thread_lives)(void *self, int id);
  void *self;
};

#endif
