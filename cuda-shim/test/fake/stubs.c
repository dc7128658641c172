/* The exported functions, generated from nvml.def: enter, look up, leave. */
#include "fake.h"

#define STUB(name, params, args, kind, device)                 \
  nvmlReturn_t name params;                                    \
  nvmlReturn_t name params {                                   \
    nvmlReturn_t result = fake_enter(FN_##name, kind, device); \
    if (result != NVML_SUCCESS) return result;                 \
    result = fake_##name args;                                 \
    fake_leave();                                              \
    return result;                                             \
  }

#define NVML_ROW(name, params, args) STUB(name, params, args, FAKE_CALL_ROW, NULL)
#define NVML_DEV(name, params, args) STUB(name, params, args, FAKE_CALL_DEV, device)
#define NVML_OPEN(name, params, args) STUB(name, params, args, FAKE_CALL_OPEN, NULL)
#define NVML_TEXT(name, params, args) \
  const char *name params;            \
  const char *name params { return fake_##name args; }
#include "fake_nvml.def"
