/* What a process that uses the cards does with the shared file: join, allocate, queue work, wait. */
#ifndef VGPU_FAKE_GPU_OWN_H
#define VGPU_FAKE_GPU_OWN_H

#include "gpu_state.h"

/* How a machine is made, by the first process that comes. */
struct gpu_machine {
  uint32_t device_count;
  struct {
    const char *uuid;
    uint64_t total;
  } devices[GPU_DEVICES];
  uint64_t slice_ns, switch_ns, context_bytes, granule;
};

/* Maps the file, making it if there is none, and takes a slot. True on error, with text in *why. */
bool gpu_join(struct gpu *g, const char *path, const struct gpu_machine *machine, const char **why);

/* Takes bytes of a card, or says that it has not so many. Zero bytes are always given. */
bool gpu_take(struct gpu *g, uint32_t device, uint64_t bytes);
void gpu_give(struct gpu *g, uint32_t device, uint64_t bytes);

/* This process's queue on a card; null if too many processes use the card. */
struct gpu_queue *gpu_claim_queue(struct gpu *g, uint32_t device);

/* Works the schedule out up to now. */
void gpu_advance(struct gpu *g, uint32_t device);

/* Waits until operation `number` of the queue is done. */
void gpu_wait(struct gpu *g, uint32_t device, const struct gpu_queue *queue, uint64_t number);

/* Takes the queues of a slot away, with the work in them. */
void gpu_drop_slot(struct gpu *g, uint32_t device, uint32_t slot);

#endif
