/*
 * The driver as the benchmarks use it: functions by dlsym, as every program gets them (with the library preloaded these are its
 * hooks), and beside them the driver's own addresses, read from its symbol table, which no hook can stand before.
 */
#ifndef VGPU_BENCH_GPU_H
#define VGPU_BENCH_GPU_H

#include "cuda_types.h"

#define BENCH_FUNCTIONS(F)                                                                                          \
  F(cuInit, (unsigned))                                                                                             \
  F(cuDeviceGet, (CUdevice *, int))                                                                                 \
  F(cuDeviceGetName, (char *, int, CUdevice))                                                                       \
  F(cuDriverGetVersion, (int *))                                                                                    \
  F(cuDevicePrimaryCtxRetain, (CUcontext *, CUdevice))                                                              \
  F(cuCtxSetCurrent, (CUcontext))                                                                                   \
  F(cuCtxSynchronize, (void))                                                                                       \
  F(cuModuleLoadData, (CUmodule *, const void *))                                                                   \
  F(cuModuleGetFunction, (CUfunction *, CUmodule, const char *))                                                    \
  F(cuStreamCreate, (CUstream *, unsigned))                                                                         \
  F(cuStreamSynchronize, (CUstream))                                                                                \
  F(cuEventCreate, (CUevent *, unsigned))                                                                           \
  F(cuEventRecord, (CUevent, CUstream))                                                                             \
  F(cuEventQuery, (CUevent))                                                                                        \
  F(cuEventSynchronize, (CUevent))                                                                                  \
  F(cuEventElapsedTime, (float *, CUevent, CUevent))                                                                \
  F(cuLaunchKernel,                                                                                                 \
    (CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream, void **, void **)) \
  F(cuMemAlloc_v2, (CUdeviceptr *, size_t))                                                                         \
  F(cuMemFree_v2, (CUdeviceptr))                                                                                    \
  F(cuMemGetInfo_v2, (size_t *, size_t *))                                                                          \
  F(cuMemAllocAsync, (CUdeviceptr *, size_t, CUstream))                                                             \
  F(cuMemFreeAsync, (CUdeviceptr, CUstream))

struct functions {
#define F(name, parameters) CUresult(*name) parameters;
  BENCH_FUNCTIONS(F)
#undef F
};

struct gpu {
  struct functions shim;   /* what a program gets */
  struct functions native; /* the driver's own */
  CUcontext context;
  CUstream stream;
  CUfunction empty; /* nothing */
  CUfunction spin;  /* (u64 sink, u32 rounds): a chain of dependent multiply-adds */
  CUdeviceptr sink;
};

/* Ends the program with a message when anything is amiss. */
void gpu_open(struct gpu *gpu);
void gpu_check(CUresult result, const char *what);

/* Launches a full card of `rounds` rounds through these functions. */
void gpu_spin(const struct gpu *gpu, const struct functions *through, unsigned rounds);

/* CLOCK_MONOTONIC. */
int64_t now_ns(void);

/* The file whose code lies at an address; "?" when none. */
const char *owner_of(const void *address);

/* The address of a function in a loaded object by its own symbol table; NULL when it has none. */
void *symbol_of(const char *object, const char *name);

#endif
