/* What something adds, measured as the difference of neighbours: with it and without it take turns, so that drift cancels out. */
#ifndef VGPU_BENCH_PAIRED_H
#define VGPU_BENCH_PAIRED_H

#include <stdbool.h>

enum { PAIRED_MAX = 4000, PAIRED_WARM = 10 };

struct paired {
  double added_ns; /* the median of the differences */
  double low_ns;   /* its distribution-free 95 % interval */
  double high_ns;
  double with_ns;
  double without_ns;
  int pairs;
};

/* `block` runs once with or without, and returns the ns of one call; at most PAIRED_MAX pairs. */
struct paired paired_measure(double (*block)(void *self, bool with), void *self, int pairs);

/* As JSON members, without braces. */
void paired_print(const struct paired *p);

#endif
