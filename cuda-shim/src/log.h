/* One line a cause to standard error, or to the descriptor CUDA_SHIM_LOG_FD, and never more than VGPU_LOG_LINES. */
#ifndef VGPU_LOG_H
#define VGPU_LOG_H

#include <stdint.h>

enum { VGPU_LOG_LINES = 64 };

enum vgpu_log_level { VGPU_LOG_ERROR = 1, VGPU_LOG_WARNING = 2, VGPU_LOG_INFO = 3 };

/* Shown from CUDA_SHIM_LOG = level on; errors by default. `detail` may be null; `number` is shown unless it is -1. */
void vgpu_log(enum vgpu_log_level level, const char *what, const char *detail, int64_t number);

#endif
