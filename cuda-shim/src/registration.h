/*
 * Saying to the agent that this process is there, so that it knows which process of the host a slot belongs to (the
 * layout's last section). A courtesy: whatever the agent does or fails to do, the process goes on within
 * VGPU_REGISTER_TIMEOUT_MS, without a signal, a thread or a descriptor more than before.
 */
#ifndef VGPU_REGISTRATION_H
#define VGPU_REGISTRATION_H

#include "process.h"

enum vgpu_registered {
  VGPU_REGISTERED,
  VGPU_REGISTRATION_REFUSED,
  VGPU_REGISTRATION_RUBBISH, /* what came is no answer */
  VGPU_REGISTRATION_LATE,    /* none came in time */
  VGPU_REGISTRATION_NONE     /* nobody is there to ask */
};

/* Once for each claimed slot, by the process that claimed it; a forked child has a slot of its own and comes here again. */
enum vgpu_registered vgpu_register(const struct vgpu_shared *shared, const struct vgpu_process *p);

/* The exchange on a connected, non-blocking socket, until sys_monotonic_ns() is `deadline`. For vgpu_register and tests. */
enum vgpu_registered vgpu_register_on(int fd, const struct vgpu_register_request *request, int64_t deadline);

#endif
