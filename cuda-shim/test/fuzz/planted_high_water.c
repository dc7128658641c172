/* A bug planted into the library, which the fuzz target must find: a count that is followed as it was read. */
#include "process.h"

uint32_t __wrap_vgpu_high_water(const struct vgpu_shared *shared);
uint32_t __wrap_vgpu_high_water(const struct vgpu_shared *shared) { return shared->usage->header.slot_high_water; }
