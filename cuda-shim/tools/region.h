/*
 * Reads a region that somebody else may be writing, or may have written to mislead: by copies, never by a mapping, with
 * every length, count and index checked before use. No allocation, no global state.
 */
#ifndef VGPU_REGION_H
#define VGPU_REGION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "vgpu/abi.h"

enum { REGION_ERROR_BYTES = 256 };

enum region_kind { REGION_LIMITS, REGION_USAGE, REGION_LOAD };

/* Where the bytes come from. */
struct region_source {
  /* Copies length bytes from offset; false if they are not all there. */
  bool (*read)(void *self, uint64_t offset, void *out, size_t length);
  void *self;
  uint64_t size;
};

/* A copy that passed every check. */
struct region {
  enum region_kind kind;
  struct vgpu_header header;
  union {
    struct vgpu_limits limits;
    struct vgpu_usage usage;
    struct vgpu_load load;
  } u;
};

/* True on error, with the reason in `error`. */
bool region_read(const struct region_source *source, struct region *out, char error[REGION_ERROR_BYTES]);

/* "limits", "usage", "load". */
const char *region_name(enum region_kind kind);

#endif
