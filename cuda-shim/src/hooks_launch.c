/* Launches under a core limit: ask, launch, tell. Without one the entry points never come here. */
#include "hooks.h"
#include "pace.h"
#include "pool.h"

#define LAUNCH(name, params, args, on_stream, thread, launched)                                         \
  CUresult vgpu_on_##name params {                                                                      \
    const struct vgpu_cuda *cuda = vgpu_driver();                                                       \
    struct vgpu_launch launch = {                                                                       \
        .cuda = cuda, .stream = (on_stream), .per_thread = (thread), .what = (const void *)(launched)}; \
    vgpu_pace_before(&launch);                                                                          \
    CUresult result = cuda->name args;                                                                  \
    vgpu_pace_after(&launch, result == CUDA_SUCCESS);                                                   \
    return result;                                                                                      \
  }

#define SHAPE                                                                                                         \
  CUfunction f, unsigned int gx, unsigned int gy, unsigned int gz, unsigned int bx, unsigned int by, unsigned int bz, \
      unsigned int shared, CUstream stream

LAUNCH(cuLaunchKernel, (SHAPE, void **params, void **extra), (f, gx, gy, gz, bx, by, bz, shared, stream, params, extra), stream,
       false, f)
LAUNCH(cuLaunchKernel_ptsz, (SHAPE, void **params, void **extra), (f, gx, gy, gz, bx, by, bz, shared, stream, params, extra),
       stream, true, f)
LAUNCH(cuLaunchCooperativeKernel, (SHAPE, void **params), (f, gx, gy, gz, bx, by, bz, shared, stream, params), stream, false, f)
LAUNCH(cuLaunchCooperativeKernel_ptsz, (SHAPE, void **params), (f, gx, gy, gz, bx, by, bz, shared, stream, params), stream,
       true, f)

static CUstream stream_of(const CUlaunchConfig *config) { return config != NULL ? config->hStream : NULL; }

LAUNCH(cuLaunchKernelEx, (const CUlaunchConfig *config, CUfunction f, void **params, void **extra), (config, f, params, extra),
       stream_of(config), false, f)
LAUNCH(cuLaunchKernelEx_ptsz, (const CUlaunchConfig *config, CUfunction f, void **params, void **extra),
       (config, f, params, extra), stream_of(config), true, f)
LAUNCH(cuLaunch, (CUfunction f), (f), NULL, false, f)
LAUNCH(cuLaunchGrid, (CUfunction f, int width, int height), (f, width, height), NULL, false, f)
LAUNCH(cuLaunchGridAsync, (CUfunction f, int width, int height, CUstream stream), (f, width, height, stream), stream, false, f)

/* All wait before the first is launched: a pause between devices could leave kernels waiting for each other. */
CUresult vgpu_on_cuLaunchCooperativeKernelMultiDevice(CUDA_LAUNCH_PARAMS *list, unsigned int count, unsigned int flags) {
  const struct vgpu_cuda *cuda = vgpu_driver();
  struct vgpu_launch launches[VGPU_MAX_DEVICES];
  unsigned int n = list == NULL ? 0 : count < VGPU_MAX_DEVICES ? count : VGPU_MAX_DEVICES;
  for (unsigned int i = 0; i < n; i++) {
    launches[i] = (struct vgpu_launch){.cuda = cuda, .stream = list[i].hStream, .what = list[i].function};
    vgpu_pace_before(&launches[i]);
  }
  CUresult result = cuda->cuLaunchCooperativeKernelMultiDevice(list, count, flags);
  for (unsigned int i = 0; i < n; i++) vgpu_pace_after(&launches[i], result == CUDA_SUCCESS);
  return result;
}

static CUresult run_graph(CUresult (*call)(CUgraphExec, CUstream), CUgraphExec graph, CUstream stream, bool per_thread) {
  const struct vgpu_cuda *cuda = vgpu_driver();
  struct vgpu_launch launch = {.cuda = cuda, .stream = stream, .per_thread = per_thread, .graph = true, .what = graph};
  bool limited = vgpu_pace_limited();
  if (limited) vgpu_pace_before(&launch);
  CUresult result = call(graph, stream);
  if (limited) vgpu_pace_after(&launch, result == CUDA_SUCCESS);
  struct vgpu_place p;
  if (atomic_load_explicit(&vgpu_graphs_allocate, memory_order_relaxed) != 0 && vgpu_place_current(cuda, &p))
    vgpu_graph_memory_read(&p);
  return result;
}

CUresult vgpu_on_cuGraphLaunch(CUgraphExec graph, CUstream stream) {
  return run_graph(vgpu_driver()->cuGraphLaunch, graph, stream, false);
}
CUresult vgpu_on_cuGraphLaunch_ptsz(CUgraphExec graph, CUstream stream) {
  return run_graph(vgpu_driver()->cuGraphLaunch_ptsz, graph, stream, true);
}

/* ---- waits and the end of streams */

#define ROW_SYNC(name, params, args)              \
  CUresult vgpu_on_##name params {                \
    const struct vgpu_cuda *cuda = vgpu_driver(); \
    vgpu_pace_wait(cuda);                         \
    return cuda->name args;                       \
  }
#define ROW_STREAM(name, params, args) \
  CUresult vgpu_on_##name params {     \
    vgpu_pace_stream_gone(stream);     \
    return vgpu_driver()->name args;   \
  }
#include "rows.h"
