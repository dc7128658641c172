/* Locks in the shared file that outlive the death of whoever holds one. */
#ifndef VGPU_FAKE_GPU_LOCK_H
#define VGPU_FAKE_GPU_LOCK_H

#include "gpu_state.h"

/* True: the lock was taken over from a dead owner, what it guards may be half changed. */
bool gpu_lock(const struct gpu *g, _Atomic uint32_t *word);
void gpu_unlock(_Atomic uint32_t *word);

#endif
