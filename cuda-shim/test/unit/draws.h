/* Numbers by chance, the same for the same seed. */
#ifndef VGPU_TEST_DRAWS_H
#define VGPU_TEST_DRAWS_H

#include <stdint.h>

__attribute__((always_inline)) static inline uint64_t draws_mixed(uint64_t z) {
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

__attribute__((always_inline)) static inline uint64_t draws_next(uint64_t *state) {
  return draws_mixed(*state += 0x9E3779B97F4A7C15u);
}

static inline uint64_t draws_below(uint64_t *state, uint64_t bound) { return draws_next(state) % bound; }

#endif
