/* Which entry of `limits` a device of this process is: by UUID, since ordinals are permuted by the environment. */
#ifndef VGPU_DEVICES_H
#define VGPU_DEVICES_H

#include "driver.h"
#include "process.h"

enum { VGPU_NO_ENTRY = 255 };

/* Asks the driver once, after cuInit. False: no device of the process is in limits. */
bool vgpu_devices_learn(const struct vgpu_cuda *cuda, const struct vgpu_shared *shared);

/* Where a call happens: everything that charging needs. */
struct vgpu_place {
  const struct vgpu_cuda *cuda;
  const struct vgpu_shared *shared;
  struct vgpu_process *me;
  CUdevice device;
  uint8_t entry;
  struct vgpu_limit limit;
};

/* False: this call is not limited (device not in limits, none current, process without slot). No context is asked for
 * where the process sees one device. */
bool vgpu_place_current(const struct vgpu_cuda *cuda, struct vgpu_place *out);
bool vgpu_place_device(const struct vgpu_cuda *cuda, CUdevice device, struct vgpu_place *out);

/* The entry of a UUID as NVML and limits write it ("GPU-…", "MIG-…"), VGPU_NO_ENTRY if there is none. */
uint8_t vgpu_entry_of_uuid(const struct vgpu_shared *shared, const char *uuid);

/* The entry of a device, VGPU_NO_ENTRY if it has none. */
uint8_t vgpu_entry_of_device(CUdevice device);

/* The device of an entry, the other way round; -1. */
CUdevice vgpu_device_of_entry(uint8_t entry);

/* The one device of the process; -1 if it has several or is not known yet. */
CUdevice vgpu_only_device(void);

void vgpu_devices_forget(void);

#endif
