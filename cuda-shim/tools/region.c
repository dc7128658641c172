#include "region.h"

#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

static const struct shape {
  enum region_kind kind;
  const char *name;
  uint32_t magic, bytes, stride;
  size_t entry_bytes; /* of entries under a seqlock, 0 if there is none */
} SHAPES[] = {
    {REGION_LIMITS, VGPU_LIMITS_FILE, VGPU_LIMITS_MAGIC, VGPU_LIMITS_BYTES, VGPU_LIMITS_STRIDE,
     sizeof(struct vgpu_limits_device)},
    {REGION_USAGE, VGPU_USAGE_FILE, VGPU_USAGE_MAGIC, VGPU_USAGE_BYTES, VGPU_USAGE_STRIDE, 0},
    {REGION_LOAD, VGPU_LOAD_FILE, VGPU_LOAD_MAGIC, VGPU_LOAD_BYTES, VGPU_LOAD_STRIDE, sizeof(struct vgpu_load_device)},
};
enum { SHAPE_COUNT = sizeof SHAPES / sizeof SHAPES[0] };

#define FAIL(...) (snprintf(error, REGION_ERROR_BYTES, __VA_ARGS__), true)

const char *region_name(enum region_kind kind) { return SHAPES[kind].name; }

static bool check_header(const struct vgpu_header *h, uint64_t size, const struct shape **out, char *error) {
  const struct shape *shape = NULL;
  if (h->magic == 0) return FAIL("magic: 0, nobody has finished writing this region");
  for (int i = 0; i < SHAPE_COUNT; i++) {
    if (h->magic == SHAPES[i].magic) shape = &SHAPES[i];
  }
  if (shape == NULL) return FAIL("magic: 0x%08" PRIX32 " is of no region", h->magic);
  if (h->major != VGPU_ABI_MAJOR) return FAIL("major: %u, this program knows %u", h->major, VGPU_ABI_MAJOR);
  if (h->header_bytes != VGPU_HEADER_BYTES)
    return FAIL("header_bytes: %" PRIu32 " is not %u", h->header_bytes, VGPU_HEADER_BYTES);
  if (h->region_bytes != shape->bytes) return FAIL("region_bytes: %" PRIu32 " is not %" PRIu32, h->region_bytes, shape->bytes);
  if (size != shape->bytes) return FAIL("size: %" PRIu64 " is not %" PRIu32, size, shape->bytes);
  if (h->stride != shape->stride) return FAIL("stride: %" PRIu32 " is not %" PRIu32, h->stride, shape->stride);
  if (h->device_count > VGPU_MAX_DEVICES)
    return FAIL("device_count: %" PRIu32 " is more than %u", h->device_count, VGPU_MAX_DEVICES);
  *out = shape;
  return false;
}

/* One entry whose first word is a sequence number: three reads in order, until nothing moved meanwhile. */
static bool read_entry(const struct region_source *s, uint64_t offset, void *out, size_t bytes, unsigned index, char *error) {
  uint32_t before = 0, after = 0;
  for (int tries = 0; tries < VGPU_SEQLOCK_TRIES; tries++) {
    if (!s->read(s->self, offset, &before, sizeof before) || !s->read(s->self, offset, out, bytes) ||
        !s->read(s->self, offset, &after, sizeof after)) {
      return FAIL("device %u: became shorter while being read", index);
    }
    if (before == after && before % 2 == 0) {
      memcpy(out, &before, sizeof before);
      return false;
    }
    (void)sched_yield();
  }
  return FAIL("device %u: seq: %" PRIu32 ", being written at each of %d tries", index, after, VGPU_SEQLOCK_TRIES);
}

static bool check_uuid(const char *uuid, unsigned index, char *error) {
  size_t n = strnlen(uuid, VGPU_UUID_BYTES);
  if (n == VGPU_UUID_BYTES) return FAIL("device %u: uuid: has no end", index);
  for (size_t i = 0; i < n; i++) {
    if (uuid[i] <= ' ' || uuid[i] > '~') return FAIL("device %u: uuid: character %zu is not printable", index, i);
  }
  return false;
}

static bool check_limits_device(const struct vgpu_limits_device *d, unsigned index, bool newer, char *error) {
  if (!newer && (d->flags & ~VGPU_LIMIT_KNOWN_FLAGS) != 0)
    return FAIL("device %u: flags: 0x%" PRIX32 " has unknown bits", index, d->flags);
  if (check_uuid(d->uuid, index, error)) return true;
  if ((d->flags & VGPU_LIMIT_ACTIVE) != 0 && d->uuid[0] == '\0') return FAIL("device %u: uuid: empty, but active", index);
  if (d->core_soft_permille > VGPU_PERMILLE_FULL) {
    return FAIL("device %u: core_soft_permille: %" PRIu32 " is more than %u", index, d->core_soft_permille, VGPU_PERMILLE_FULL);
  }
  if (d->core_hard_permille > d->core_soft_permille) {
    return FAIL("device %u: core_hard_permille: %" PRIu32 " is more than core_soft_permille", index, d->core_hard_permille);
  }
  if (d->mem_physical > d->mem_limit)
    return FAIL("device %u: mem_physical: %" PRIu64 " is more than mem_limit", index, d->mem_physical);
  return false;
}

/* Counters are the container's own and may be anything; what is followed or named is checked. */
static bool check_usage(const struct vgpu_usage *u, char *error) {
  if (u->header.slot_high_water > VGPU_SLOTS) {
    return FAIL("slot_high_water: %" PRIu32 " is more than %u", u->header.slot_high_water, VGPU_SLOTS);
  }
  for (uint32_t k = 0; k < u->header.slot_high_water; k++) {
    if (u->slots[k].state > VGPU_SLOT_SUSPENDED)
      return FAIL("slot %" PRIu32 ": state: %" PRIu32 " is unknown", k, u->slots[k].state);
  }
  return false;
}

bool region_read(const struct region_source *source, struct region *out, char error[REGION_ERROR_BYTES]) {
  const struct shape *shape = NULL;
  struct vgpu_header h;
  if (source->size < VGPU_HEADER_BYTES || !source->read(source->self, 0, &h, sizeof h)) {
    return FAIL("size: %" PRIu64 ", shorter than a header of %u bytes", source->size, VGPU_HEADER_BYTES);
  }
  if (check_header(&h, source->size, &shape, error)) return true;
  memset(out, 0, sizeof *out);
  if (!source->read(source->self, 0, &out->u, shape->bytes)) return FAIL("size: became shorter while being read");
  out->kind = shape->kind;
  out->header = h;
  memcpy(&out->u, &h, sizeof h); /* what was checked is what is used */
  bool newer = h.minor > VGPU_ABI_MINOR;
  if (shape->kind == REGION_USAGE) return check_usage(&out->u.usage, error);
  for (uint32_t i = 0; i < h.device_count; i++) {
    uint64_t offset = VGPU_HEADER_BYTES + (uint64_t)i * shape->stride;
    unsigned char *entry = (unsigned char *)&out->u + offset;
    if (read_entry(source, offset, entry, shape->entry_bytes, i, error)) return true;
    if (shape->kind == REGION_LIMITS && check_limits_device(&out->u.limits.devices[i], i, newer, error)) return true;
  }
  return false;
}
