#include "paired.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static int ascending(const void *a, const void *b) {
  double x = *(const double *)a;
  double y = *(const double *)b;
  return (x > y) - (x < y);
}

static double median(double *values, int n) {
  qsort(values, (size_t)n, sizeof *values, ascending);
  return n % 2 == 1 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

struct paired paired_measure(double (*block)(void *self, bool with), void *self, int pairs) {
  static double with[PAIRED_MAX];
  static double without[PAIRED_MAX];
  static double difference[PAIRED_MAX];
  for (int i = 0; i < PAIRED_WARM; i++) {
    block(self, true);
    block(self, false);
  }
  for (int i = 0; i < pairs; i++) {
    if (i % 2 == 0) {
      with[i] = block(self, true);
      without[i] = block(self, false);
    } else {
      without[i] = block(self, false);
      with[i] = block(self, true);
    }
    difference[i] = with[i] - without[i];
  }
  double added = median(difference, pairs);
  int reach = (int)(0.98 * sqrt((double)pairs)) + 1;
  int low = pairs / 2 - reach < 0 ? 0 : pairs / 2 - reach;
  int high = pairs / 2 + reach >= pairs ? pairs - 1 : pairs / 2 + reach;
  return (struct paired){added, difference[low], difference[high], median(with, pairs), median(without, pairs), pairs};
}

void paired_print(const struct paired *p) {
  printf("\"added_ns\": %.2f, \"low_ns\": %.2f, \"high_ns\": %.2f, \"hook_ns\": %.1f, \"native_ns\": %.1f, \"pairs\": %d",
         p->added_ns, p->low_ns, p->high_ns, p->with_ns, p->without_ns, p->pairs);
}
