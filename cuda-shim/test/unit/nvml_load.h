/* Every row of nvml.def as a pointer, resolved the way a client does it: dlopen, then dlsym by name. */
#ifndef VGPU_TEST_NVML_LOAD_H
#define VGPU_TEST_NVML_LOAD_H

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>

#include "nvml_types.h"

struct nvml {
#define NVML_ROW(name, params, args) nvmlReturn_t(*name) params;
#define NVML_DEV NVML_ROW
#define NVML_OPEN NVML_ROW
#define NVML_TEXT(name, params, args) const char *(*name)params;
#include "nvml.def"
#undef NVML_ROW
#undef NVML_DEV
#undef NVML_OPEN
#undef NVML_TEXT
};

/* True on error. */
static inline bool nvml_load(struct nvml *n, const char *path) {
  void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (handle == NULL) {
    (void)fprintf(stderr, "%s\n", dlerror());
    return true;
  }
  bool missing = false;
#define NVML_ROW(name, params, args)         \
  *(void **)&n->name = dlsym(handle, #name); \
  if (n->name == NULL) missing = true, (void)fprintf(stderr, "%s is missing\n", #name);
#define NVML_DEV NVML_ROW
#define NVML_OPEN NVML_ROW
#define NVML_TEXT NVML_ROW
#include "nvml.def"
#undef NVML_ROW
#undef NVML_DEV
#undef NVML_OPEN
#undef NVML_TEXT
  return missing;
}

#endif
