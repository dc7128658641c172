/* NVML's return codes and the rows of fake_nvml.def by name. */
#ifndef VGPU_FAKE_CODES_H
#define VGPU_FAKE_CODES_H

#include <stdbool.h>

#include "nvml_view_types.h"

/* By name without NVML_ERROR_ ("GPU_IS_LOST"), or by number. */
bool code_by_name(const char *text, nvmlReturn_t *out);

/* A sentence, as nvmlErrorString gives. Never null. */
const char *code_text(nvmlReturn_t code);

enum fake_function {
#define NVML_ROW(name, params, args) FN_##name,
#define NVML_DEV NVML_ROW
#define NVML_OPEN NVML_ROW
#define NVML_TEXT NVML_ROW
#include "fake_nvml.def"
#undef NVML_ROW
#undef NVML_DEV
#undef NVML_OPEN
#undef NVML_TEXT
  FN_COUNT
};

#endif
