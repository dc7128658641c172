/*
 * What every fuzz target is made of: a block of rounds that draws all it does from numbers, so that an input is those numbers and
 * can be kept, varied and told. What a target does wrong, the sanitizers it is built with turn into an exit status.
 */
#ifndef VGPU_FUZZ_H
#define VGPU_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FUZZ_CHANGES = 32 };

/* The numbers of a generator from its seed, some of them replaced. One line of a corpus: `SEED N=VALUE N=VALUE…`, in hex. */
struct fuzz_input {
  uint64_t seed;
  uint32_t count;
  struct fuzz_change {
    uint64_t at, value; /* ascending */
  } changes[FUZZ_CHANGES];
};

struct fuzz {
  const struct fuzz_input *input;
  uint64_t state, drawn;
  uint32_t changed;
};

struct fuzz_target {
  uint64_t rounds;                       /* unless FUZZ_ITERATIONS or FUZZ_SECONDS say otherwise */
  uint64_t (*block)(struct fuzz *);      /* from a fresh state; returns how many rounds that were */
  const char *(*wrong)(uint64_t rounds); /* at the end: why all of it showed nothing, or null */
};

/* The whole program. */
int fuzz_main(int argc, char **argv, const struct fuzz_target *target);

/* Ends the program, with the input. */
__attribute__((noreturn)) void fuzz_wrong(const char *what);

uint64_t fuzz_next(struct fuzz *f);
uint64_t fuzz_below(struct fuzz *f, uint64_t bound);

/* Changes a few bytes: a flip, an edge value of 1, 4 or 8 bytes, or a stretch copied from elsewhere in the same data. */
void fuzz_mutate(struct fuzz *f, unsigned char *data, size_t length);

#endif
