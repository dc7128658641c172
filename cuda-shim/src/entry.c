/* The entry points: one function a row of hooks.def, under the linker's name. */
#include "entry.h"

#include "hooks.h"
#include "pace.h"
#include "shared.h"

_Atomic(const struct vgpu_cuda *) vgpu_passive;
_Atomic(const struct vgpu_nvml *) vgpu_passive_nvml;
_Atomic(const struct vgpu_cuda *) vgpu_launching;

bool vgpu_is_broken(void) { return vgpu_shared()->mode == VGPU_BROKEN; }

const struct vgpu_cuda *vgpu_first_call(void) {
  const struct vgpu_cuda *cuda = vgpu_cuda(true);
  if (cuda == NULL) return NULL;
  enum vgpu_mode mode = vgpu_shared()->mode;
  if (mode == VGPU_PASSIVE) {
    atomic_store_explicit(&vgpu_passive, cuda, memory_order_release);
    atomic_store_explicit(&vgpu_launching, cuda, memory_order_release);
  }
  return cuda;
}

const struct vgpu_nvml *vgpu_first_nvml_call(void) {
  const struct vgpu_nvml *nvml = vgpu_nvml(true);
  if (nvml != NULL && vgpu_shared()->mode == VGPU_PASSIVE)
    atomic_store_explicit(&vgpu_passive_nvml, nvml, memory_order_release);
  return nvml;
}

#define LIKELY(x) __builtin_expect(!!(x), 1)
/* Out of line, so that the way past us needs no registers of its own. */
#define SLOW static __attribute__((noinline, cold))

#define SLOW_PATH(name, params, args)                           \
  SLOW CUresult slow_##name params {                            \
    if (vgpu_first_call() == NULL) return CUDA_ERROR_NO_DEVICE; \
    if (vgpu_is_broken()) return CUDA_ERROR_SYSTEM_NOT_READY;   \
    return vgpu_on_##name args;                                 \
  }

/* Needed in a passive process too. */
#define ENTER_ALWAYS(name, params, args) \
  SLOW_PATH(name, params, args)          \
  ENTRY(CUresult, name, params) { return slow_##name args; }

#define ENTER(name, params, args)                                                             \
  SLOW_PATH(name, params, args)                                                               \
  ENTRY(CUresult, name, params) {                                                             \
    const struct vgpu_cuda *cuda = atomic_load_explicit(&vgpu_passive, memory_order_acquire); \
    return LIKELY(cuda != NULL) ? cuda->name args : slow_##name args;                         \
  }

/* A wait goes through as long as no core limit is set, also in a limited process. */
#define ENTER_SYNC(name, params, args)                                                          \
  SLOW_PATH(name, params, args)                                                                 \
  ENTRY(CUresult, name, params) {                                                               \
    const struct vgpu_cuda *cuda = atomic_load_explicit(&vgpu_launching, memory_order_acquire); \
    return LIKELY(cuda != NULL && !vgpu_pace_limited()) ? cuda->name args : slow_##name args;   \
  }

/* A launch does too; under a limit one in the middle of a slice. That is looked at out of line: the way past us stays bare. */
#define ENTER_LAUNCH(name, params, args)                                                               \
  SLOW_PATH(name, params, args)                                                                        \
  static __attribute__((noinline)) CUresult paced_##name params {                                      \
    const struct vgpu_cuda *cuda = atomic_load_explicit(&vgpu_launching, memory_order_acquire);        \
    return LIKELY(cuda != NULL && vgpu_pace_pass(STREAM_##name)) ? cuda->name args : slow_##name args; \
  }                                                                                                    \
  ENTRY(CUresult, name, params) {                                                                      \
    const struct vgpu_cuda *cuda = atomic_load_explicit(&vgpu_launching, memory_order_acquire);        \
    return LIKELY(cuda != NULL && !vgpu_pace_limited()) ? cuda->name args : paced_##name args;         \
  }

/* The stream of a launch, and whether 0 means the thread's own. */
#define CONFIG_STREAM (config != NULL ? config->hStream : NULL)
#define STREAM_cuLaunchKernel stream, false
#define STREAM_cuLaunchKernel_ptsz stream, true
#define STREAM_cuLaunchKernelEx CONFIG_STREAM, false
#define STREAM_cuLaunchKernelEx_ptsz CONFIG_STREAM, true
#define STREAM_cuLaunchCooperativeKernel stream, false
#define STREAM_cuLaunchCooperativeKernel_ptsz stream, true
#define STREAM_cuLaunch NULL, false
#define STREAM_cuLaunchGrid NULL, false
#define STREAM_cuLaunchGridAsync stream, false
#define STREAM_cuLaunchCooperativeKernelMultiDevice (CUstream) UINTPTR_MAX, false /* several: none of them passes */

/*
 * Hidden under a name of ours, so that the library itself needs no relocation for it, and exported as an alias. The
 * exported name has no version: it satisfies whatever version a program asks for.
 */
#define ENTRY(result, name, params)                                                             \
  result vgpu_entry_##name params;                                                              \
  extern result name params __attribute__((alias("vgpu_entry_" #name), visibility("default"))); \
  result vgpu_entry_##name params

#define ENTER_START ENTER_ALWAYS
#define ENTER_LOOKUP ENTER_ALWAYS
#define ENTER_ALLOC ENTER
#define ENTER_FREE ENTER
#define ENTER_POOL ENTER
#define ENTER_SHARE ENTER
#define ENTER_HOST ENTER
#define ENTER_OLD ENTER
#define ENTER_CONTEXT ENTER
#define ENTER_INFO ENTER
#define ENTER_GRAPH ENTER
#define ENTER_GRAPHRUN ENTER
#define ENTER_CAPTURE ENTER
#define ENTER_STREAM ENTER
#define ENTER_SUSPEND ENTER

#define CU(name, base, since, flavor, class, params, args) ENTER_##class(name, params, args)
#define NV(name, class, params, args)                                                              \
  SLOW nvmlReturn_t slow_##name params {                                                           \
    const struct vgpu_nvml *nvml = vgpu_first_nvml_call();                                         \
    if (nvml == NULL) return NVML_ERROR_LIBRARY_NOT_FOUND;                                         \
    if (vgpu_is_broken()) return NVML_ERROR_NO_PERMISSION;                                         \
    return vgpu_shared()->mode == VGPU_PASSIVE ? nvml->name args : vgpu_on_##name args;            \
  }                                                                                                \
  ENTRY(nvmlReturn_t, name, params) {                                                              \
    const struct vgpu_nvml *nvml = atomic_load_explicit(&vgpu_passive_nvml, memory_order_acquire); \
    return LIKELY(nvml != NULL) ? nvml->name args : slow_##name args;                              \
  }
#include "hooks.def"
