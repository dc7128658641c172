/*
 * A bounded driver of random mutations, the same for every target: FUZZ_ITERATIONS rounds (or a given number) from
 * FUZZ_SEED (or 1). What a target does wrong, the sanitizers it is built with turn into an exit status.
 */
#ifndef VGPU_FUZZ_H
#define VGPU_FUZZ_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct fuzz {
  uint64_t state, seed;
  uint64_t rounds;
};

static inline uint64_t fuzz_next(struct fuzz *f) {
  uint64_t z = (f->state += 0x9E3779B97F4A7C15u);
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

static inline uint64_t fuzz_below(struct fuzz *f, uint64_t bound) { return fuzz_next(f) % bound; }

static inline struct fuzz fuzz_begin(uint64_t rounds) {
  const char *n = getenv("FUZZ_ITERATIONS"), *seed = getenv("FUZZ_SEED");
  struct fuzz f = {.seed = seed != NULL ? strtoull(seed, NULL, 10) : 1, .rounds = n != NULL ? strtoull(n, NULL, 10) : rounds};
  f.state = f.seed;
  (void)printf("%llu rounds, seed %llu\n", (unsigned long long)f.rounds, (unsigned long long)f.seed);
  return f;
}

/* Changes a few bytes: a flip, an edge value of 1, 4 or 8 bytes, or a stretch copied from elsewhere in the same data. */
static inline void fuzz_mutate(struct fuzz *f, unsigned char *data, size_t length) {
  static const uint64_t edges[] = {0, 1, 0x7F, 0xFF, 0x7FFFFFFF, 0xFFFFFFFF, INT64_MAX, UINT64_MAX};
  for (uint64_t n = 1 + fuzz_below(f, 6); length >= 16 && n > 0; n--) {
    size_t at = fuzz_below(f, length - 8), from = fuzz_below(f, length - 8);
    uint64_t edge = edges[fuzz_below(f, sizeof edges / sizeof edges[0])];
    switch (fuzz_below(f, 5)) {
      case 0: data[at] = (unsigned char)(data[at] ^ (1u << fuzz_below(f, 8))); break;
      case 1: data[at] = (unsigned char)edge; break;
      case 2: memcpy(data + at, &edge, 4); break;
      case 3: memcpy(data + at, &edge, 8); break;
      default: memmove(data + at, data + from, 1 + fuzz_below(f, 8)); break;
    }
  }
}

#endif
