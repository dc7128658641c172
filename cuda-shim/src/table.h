/*
 * What this process holds: pointers, arrays, handles, contexts, each with what was charged for it. Its memory comes from
 * the kernel, not from malloc, which a program may have replaced by one that calls CUDA. Locks are held for the table's own
 * work only, never over a call into the driver, and no wait is longer than a second.
 */
#ifndef VGPU_TABLE_H
#define VGPU_TABLE_H

#include <stdbool.h>
#include <stdint.h>

enum vgpu_what {
  VGPU_POINTER = 1,
  VGPU_ARRAY,
  VGPU_MIPMAP,
  VGPU_HANDLE,
  VGPU_RECORD,
  VGPU_MAPPING,
  VGPU_IPC,
  VGPU_EXTERNAL,
  VGPU_PINNED,
  VGPU_CONTEXT
};

/* Which figure of the slot a charge is part of. */
enum vgpu_charge { VGPU_CHARGE_NONE, VGPU_CHARGE_DEVICE, VGPU_CHARGE_MANAGED, VGPU_CHARGE_OVERHEAD };

struct vgpu_item {
  uint64_t key; /* not 0 */
  uint64_t size;
  uint64_t owner; /* context, or what the kind says */
  uint32_t count; /* times opened, where the kind counts that */
  uint8_t what, charge, entry;
  uint8_t reserved;
};

/* False: no memory, or a lock that does not come free; then the charge stays until the process ends. */
bool vgpu_table_put(const struct vgpu_item *item);
bool vgpu_table_get(enum vgpu_what what, uint64_t key, struct vgpu_item *out);
/* Removes it. */
bool vgpu_table_take(enum vgpu_what what, uint64_t key, struct vgpu_item *out);
/* Adds to `count`; gives the item as it is afterwards and removes it where count falls to 0. */
bool vgpu_table_count(enum vgpu_what what, uint64_t key, int delta, struct vgpu_item *out);
/* Removes one item of that owner; false when there is none left. */
bool vgpu_table_take_owned(uint64_t owner, struct vgpu_item *out);
/* The mapping that contains the address. Looks at everything: for rare calls. */
bool vgpu_table_covering(enum vgpu_what what, uint64_t address, struct vgpu_item *out);

#endif
