/* How much of a card a container had lately: its charged time less refunds, over about a second. Pure. */
#ifndef VGPU_REFUND_UTIL_H
#define VGPU_REFUND_UTIL_H

#include <stdint.h>

enum { UTIL_SAMPLES = 11 };
#define UTIL_STEP_NS INT64_C(100000000) /* between samples; more frequent looks replace the last one */

struct util {
  uint32_t count;
  int64_t at_ns[UTIL_SAMPLES];
  uint64_t charged_ns[UTIL_SAMPLES]; /* cumulative, less refunds */
};

/* Adds a look and gives permille of the time since the oldest sample kept, at most 1000; 0 until there are two. */
uint32_t util_look(struct util *util, int64_t now_ns, uint64_t raw_busy_ns, uint64_t refund_ns);

#endif
