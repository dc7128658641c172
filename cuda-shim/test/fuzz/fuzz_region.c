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

int main(void) {
  struct fuzz f = fuzz_begin(60000);
  static struct region region;
  char error[REGION_ERROR_BYTES];
  uint64_t accepted = 0;
  FILE *sink = fopen("/dev/null", "we");
  if (sink == NULL) return 2;
  for (uint64_t i = 0; i < f.rounds; i++) {
    size_t length = make_good(i % 64 == 0 ? 2 : i % 2);
    size_t busy = i % 4 == 0 ? length : VGPU_HEADER_BYTES + 2 * VGPU_LIMITS_STRIDE; /* where mutations bite */
    size_t kept = i % 16 == 1 ? fuzz_below(&f, length) : length;
    unsigned char *bytes = malloc(kept + 1);
    if (bytes == NULL) return 2;
    memcpy(bytes, &good, kept);
    fuzz_mutate(&f, bytes, kept < busy ? kept : busy);
    struct memory memory = {bytes, kept, i % 3 == 0 ? &f : NULL};
    struct region_source source = {read_memory, &memory, kept};
    if (region_read(&source, &region, error)) {
      if (strchr(error, ':') == NULL) abort();
    } else {
      accepted++;
      if (region.header.device_count > VGPU_MAX_DEVICES || region.header.slot_high_water > VGPU_SLOTS) {
        if (region.kind == REGION_USAGE || region.header.device_count > VGPU_MAX_DEVICES) abort();
      }
      region_print(sink, i % 2 == 0, "region", &region);
    }
    free(bytes);
  }
  (void)fclose(sink);
  (void)printf("%llu accepted\n", (unsigned long long)accepted);
  return accepted > 0 && accepted < f.rounds ? 0 : 1;
}
