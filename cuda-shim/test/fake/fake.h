/*
 * The state behind the fake library: one node a process, one lock around all of it. Every exported function enters here,
 * so that a call is counted, may be made to fail or hang, and sees a valid device; the functions themselves then run
 * under the lock and only look things up.
 */
#ifndef VGPU_FAKE_H
#define VGPU_FAKE_H

#include <pthread.h>

#include "codes.h"
#include "profile.h"

enum { FAKE_SETS = 32 };

struct nvmlEventSet_st {
  bool used;
  uint64_t generation;          /* grows when the set is freed, so that a waiter notices */
  uint64_t types[FAKE_DEVICES]; /* registered */
  uint64_t since[FAKE_DEVICES]; /* when */
  bool delivered[FAKE_EVENTS];
};

struct fake_state {
  pthread_mutex_t lock;
  bool loaded;
  unsigned inits;
  uint64_t epoch_ns; /* CLOCK_MONOTONIC of the node's start; 0 until the first initialisation */
  struct fake_profile profile;
  struct nvmlEventSet_st sets[FAKE_SETS];
  uint64_t calls[FN_COUNT][FAKE_DEVICES + 1]; /* by device; the last column counts all */
};

extern struct fake_state fake;

/* What a handle stands for; mig is -1 for a whole card. */
struct fake_target {
  int device, mig;
};

enum fake_call { FAKE_CALL_ROW, FAKE_CALL_DEV, FAKE_CALL_OPEN };

/* Takes the lock unless it returns an error. `device` counts only with FAKE_CALL_DEV. */
nvmlReturn_t fake_enter(enum fake_function fn, enum fake_call kind, nvmlDevice_t device);
void fake_leave(void);

/* All below: under the lock. */
uint64_t fake_now(void);
bool fake_resolve(nvmlDevice_t handle, struct fake_target *out);
nvmlDevice_t fake_handle(int device, int mig);
/* The device of a handle that must be a whole card, or an error: INVALID_ARGUMENT, NOT_SUPPORTED for a MIG device. */
nvmlReturn_t fake_card(nvmlDevice_t handle, struct fake_device **device, int *index);
bool fake_lost(int device);
/* Copies text with its NUL, or INSUFFICIENT_SIZE. */
nvmlReturn_t fake_copy(char *out, unsigned int length, const char *text);
void fake_pci_info(struct fake_pci at, unsigned int pci_id, nvmlPciInfo_t *out);

/* control.c: takes what has been appended to the control file since the last look. */
void control_open(const char *profile_path);
void control_poll(void);

/*
 * cards.c: what programs on the fake driver do with the cards, from the file that they share (gpu/gpu_state.h). Without that
 * file nobody does anything.
 */
void cards_open(const char *profile_path);
struct cards_process {
  unsigned pid;
  uint64_t bytes;
};
/* Adds up; lists at most `room`. */
uint64_t cards_used(int device);
int cards_processes(int device, struct cards_process *out, int room);
unsigned cards_busy_percent(int device);

#define NVML_ROW(name, params, args) nvmlReturn_t fake_##name params;
#define NVML_DEV NVML_ROW
#define NVML_OPEN NVML_ROW
#define NVML_TEXT(name, params, args) const char *fake_##name params;
#include "fake_nvml.def"
#undef NVML_ROW
#undef NVML_DEV
#undef NVML_OPEN
#undef NVML_TEXT

#endif
