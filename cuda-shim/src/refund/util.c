#include "util.h"

#include <string.h>

uint32_t util_look(struct util *util, int64_t now_ns, uint64_t raw_busy_ns, uint64_t refund_ns) {
  uint64_t charged = raw_busy_ns - refund_ns;
  /* the last sample moves on until it is a step away from the one before it */
  if (util->count >= 2 && now_ns - util->at_ns[util->count - 2] < UTIL_STEP_NS) {
    util->count--;
  } else if (util->count == UTIL_SAMPLES) {
    memmove(util->at_ns, util->at_ns + 1, (UTIL_SAMPLES - 1) * sizeof util->at_ns[0]);
    memmove(util->charged_ns, util->charged_ns + 1, (UTIL_SAMPLES - 1) * sizeof util->charged_ns[0]);
    util->count--;
  }
  util->at_ns[util->count] = now_ns;
  util->charged_ns[util->count] = charged;
  util->count++;
  int64_t passed = now_ns - util->at_ns[0];
  int64_t had = (int64_t)(charged - util->charged_ns[0]);
  if (passed <= 0 || had <= 0) return 0;
  return had >= passed ? 1000 : (uint32_t)(had / 1000 * 1000 / (passed / 1000 + 1));
}
