/* What hooks.def states and nobody wrote by hand: counts the call and says that it cannot. Weak, so that hands win. */
#include "driver.h"

#define CU(name, base, since, flavor, class, params, args) \
  __attribute__((weak)) CUresult name params {             \
    ENTER;                                                 \
    return CUDA_ERROR_NOT_SUPPORTED;                       \
  }
#define NV(name, class, params, args)
#define PASS(name, reason)
#pragma GCC diagnostic ignored "-Wunused-parameter"
#include "hooks.def"
