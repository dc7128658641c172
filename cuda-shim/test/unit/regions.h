/* Good regions to begin a test with, as the agent and the library would leave them. */
#ifndef VGPU_TEST_REGIONS_H
#define VGPU_TEST_REGIONS_H

#include <string.h>

#include "vgpu/abi.h"

static inline void good_header(struct vgpu_header *h, uint32_t magic, uint32_t bytes, uint32_t stride, uint32_t devices) {
  *h = (struct vgpu_header){.magic = magic,
                            .major = VGPU_ABI_MAJOR,
                            .minor = VGPU_ABI_MINOR,
                            .header_bytes = VGPU_HEADER_BYTES,
                            .region_bytes = bytes,
                            .device_count = devices,
                            .stride = stride,
                            .writer_epoch = 1700000000000000001u};
}

static inline void good_limits(struct vgpu_limits *l) {
  memset(l, 0, sizeof *l);
  good_header(&l->header, VGPU_LIMITS_MAGIC, VGPU_LIMITS_BYTES, VGPU_LIMITS_STRIDE, 2);
  for (uint32_t i = 0; i < 2; i++) {
    struct vgpu_limits_device *d = &l->devices[i];
    d->seq = 4;
    d->flags = VGPU_LIMIT_ACTIVE | VGPU_LIMIT_MEMORY | (i == 0 ? VGPU_LIMIT_COMPUTE : 0);
    memcpy(d->uuid, i == 0 ? "GPU-12345678-1234-1234-1234-123456780003" : "GPU-12345678-1234-1234-1234-123456780005", 41);
    d->mem_limit = d->mem_physical = (uint64_t)(10 + i) << 30;
    d->core_hard_permille = d->core_soft_permille = i == 0 ? 250 : 1000;
    d->nvml_index = 3 + 2 * i;
    d->sm_count = 108;
  }
}

static inline void good_load(struct vgpu_load *l) {
  memset(l, 0, sizeof *l);
  good_header(&l->header, VGPU_LOAD_MAGIC, VGPU_LOAD_BYTES, VGPU_LOAD_STRIDE, 1);
  l->devices[0] = (struct vgpu_load_device){.seq = 2, .device_util_permille = 730, .others_active = 3, .refund_ns = 123456789};
}

static inline void good_usage(struct vgpu_usage *u) {
  memset(u, 0, sizeof *u);
  good_header(&u->header, VGPU_USAGE_MAGIC, VGPU_USAGE_BYTES, VGPU_USAGE_STRIDE, 1);
  u->header.slot_high_water = 2;
  u->devices[0].bucket_ns = -5;
  u->slots[1] = (struct vgpu_usage_slot){.state = VGPU_SLOT_LIVE, .pid = 77, .bytes = {1 << 20}};
  u->rings[1].head = 9;
}

#endif
