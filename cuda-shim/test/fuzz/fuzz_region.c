/*
 * Broken regions, also such as change while they are read, are refused or printed, never followed out of bounds. The
 * printing is part of it: it uses what was read.
 */
#include "../unit/regions.h"
#include "fuzz.h"
#include "region_print.h"

struct memory {
  unsigned char *bytes;
  size_t length;
  struct fuzz *changing; /* not null: somebody writes between the reads */
};

static bool read_memory(void *self, uint64_t offset, void *out, size_t length) {
  struct memory *m = self;
  if (offset > m->length || length > m->length - offset) return false;
  memcpy(out, m->bytes + offset, length);
  if (m->changing != NULL && fuzz_below(m->changing, 4) == 0) fuzz_mutate(m->changing, m->bytes, m->length);
  return true;
}

static union {
  struct vgpu_limits limits;
  struct vgpu_load load;
  struct vgpu_usage usage;
} good;

static size_t make_good(uint64_t kind) {
  switch (kind) {
    case 0: good_limits(&good.limits); return sizeof good.limits;
    case 1: good_load(&good.load); return sizeof good.load;
    default: good_usage(&good.usage); return sizeof good.usage;
  }
}

static uint64_t accepted;

static uint64_t block(struct fuzz *f) {
  static struct region region;
  static FILE *sink;
  char error[REGION_ERROR_BYTES];
  if (sink == NULL) sink = fopen("/dev/null", "we");
  if (sink == NULL) exit(2);
  size_t length = make_good(fuzz_below(f, 64) == 0 ? 2 : fuzz_below(f, 2));
  size_t busy = fuzz_below(f, 4) == 0 ? length : VGPU_HEADER_BYTES + 2 * VGPU_LIMITS_STRIDE; /* where mutations bite */
  size_t kept = fuzz_below(f, 16) == 1 ? fuzz_below(f, length) : length;
  unsigned char *bytes = malloc(kept + 1);
  if (bytes == NULL) exit(2);
  memcpy(bytes, &good, kept);
  fuzz_mutate(f, bytes, kept < busy ? kept : busy);
  struct memory memory = {bytes, kept, fuzz_below(f, 3) == 0 ? f : NULL};
  struct region_source source = {read_memory, &memory, kept};
  if (region_read(&source, &region, error)) {
    if (strchr(error, ':') == NULL) abort();
  } else {
    accepted++;
    if (region.header.device_count > VGPU_MAX_DEVICES || region.header.slot_high_water > VGPU_SLOTS) {
      if (region.kind == REGION_USAGE || region.header.device_count > VGPU_MAX_DEVICES) abort();
    }
    region_print(sink, fuzz_below(f, 2) == 0, "region", &region);
  }
  free(bytes);
  return 1;
}

static const char *wrong(uint64_t rounds) { return accepted > 0 && accepted < rounds ? NULL : "all accepted, or none"; }

int main(int argc, char **argv) {
  return fuzz_main(argc, argv, &(struct fuzz_target){.rounds = 60000, .block = block, .wrong = wrong});
}
