/* What depends on the model of GPU: measured by vgpu-calibrate on an idle card, one row each in gpu_model.def. */
#ifndef VGPU_GPU_MODEL_H
#define VGPU_GPU_MODEL_H

#include <stdint.h>

struct gpu_model {
  const char *name;              /* a part of the name that NVML tells; the last row has "" and stands for all others */
  uint32_t turn_us;              /* the driver's time slice: what a process has before it is interrupted */
  uint32_t leave_us;             /* switch away from a running kernel */
  uint32_t back_us;              /* switch from one that has ended */
  uint32_t shared_loss_permille; /* of time that long kernels share, lost in switching */
  uint32_t switch_max_permille;  /* of the rest, the most that switches to short ones can take */
};

/* The row for a card of this name; null stands for an unknown name. */
const struct gpu_model *gpu_model_of(const char *name);

/* Rows, the last one too. */
extern const struct gpu_model gpu_models[];
extern const unsigned gpu_model_count;

#endif
