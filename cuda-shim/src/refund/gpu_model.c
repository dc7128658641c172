#include "gpu_model.h"

#include <string.h>

const struct gpu_model gpu_models[] = {
#define GPU(name, turn_us, leave_us, back_us, loss, most) {name, turn_us, leave_us, back_us, loss, most},
#include "gpu_model.def"
#undef GPU
};
const unsigned gpu_model_count = sizeof gpu_models / sizeof gpu_models[0];

const struct gpu_model *gpu_model_of(const char *name) {
  const struct gpu_model *last = &gpu_models[gpu_model_count - 1];
  if (name == NULL) return last;
  for (const struct gpu_model *m = gpu_models; m < last; m++) {
    if (strstr(name, m->name) != NULL) return m;
  }
  return last;
}
