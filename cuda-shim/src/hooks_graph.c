/* Graphs that allocate, and streams that record. */
#include "hooks.h"
#include "pace.h"
#include "pool.h"

atomic_int vgpu_captures;

static CUresult status_of(const struct vgpu_cuda *cuda, CUstream stream, bool per_thread, CUstreamCaptureStatus *status) {
  *status = CU_STREAM_CAPTURE_STATUS_NONE;
  return per_thread ? cuda->cuStreamIsCapturing_ptsz(stream, status) : cuda->cuStreamIsCapturing(stream, status);
}

bool vgpu_capturing(const struct vgpu_cuda *cuda, CUstream stream, bool per_thread) {
  if (atomic_load_explicit(&vgpu_captures, memory_order_relaxed) <= 0) return false;
  CUstreamCaptureStatus status;
  return status_of(cuda, stream, per_thread, &status) != CUDA_SUCCESS || status != CU_STREAM_CAPTURE_STATUS_NONE;
}

static CUresult begun(CUresult result) {
  if (result == CUDA_SUCCESS) atomic_fetch_add(&vgpu_captures, 1);
  return result;
}

/* Slices end here: what is launched from now on may be recorded, not run. */
#define BEGIN(name, params, args)                 \
  CUresult vgpu_on_##name params {                \
    const struct vgpu_cuda *cuda = vgpu_driver(); \
    vgpu_pace_wait(cuda);                         \
    return begun(cuda->name args);                \
  }

BEGIN(cuStreamBeginCapture, (CUstream stream), (stream))
BEGIN(cuStreamBeginCapture_ptsz, (CUstream stream), (stream))
BEGIN(cuStreamBeginCapture_v2, (CUstream stream, CUstreamCaptureMode mode), (stream, mode))
BEGIN(cuStreamBeginCapture_v2_ptsz, (CUstream stream, CUstreamCaptureMode mode), (stream, mode))
#define TO_GRAPH                                                                                                \
  (CUstream stream, CUgraph graph, const CUgraphNode *dependencies, const CUgraphEdgeData *edges, size_t count, \
   CUstreamCaptureMode mode)
BEGIN(cuStreamBeginCaptureToGraph, TO_GRAPH, (stream, graph, dependencies, edges, count, mode))
BEGIN(cuStreamBeginCaptureToGraph_ptsz, TO_GRAPH, (stream, graph, dependencies, edges, count, mode))
#define AGAIN (CUstream stream, CUstreamCaptureMode mode, CUgraph graph, CUgraphRecaptureCallback callback, void *data)
BEGIN(cuStreamBeginRecaptureToGraph, AGAIN, (stream, mode, graph, callback, data))
BEGIN(cuStreamBeginRecaptureToGraph_ptsz, AGAIN, (stream, mode, graph, callback, data))

/* An invalidated capture ends with an error; an end that was none leaves the stream recording. */
static CUresult end(const struct vgpu_cuda *cuda, CUresult (*call)(CUstream, CUgraph *), CUstream stream, CUgraph *graph,
                    bool per_thread) {
  CUstreamCaptureStatus before, after;
  bool recording = status_of(cuda, stream, per_thread, &before) == CUDA_SUCCESS && before != CU_STREAM_CAPTURE_STATUS_NONE;
  CUresult result = call(stream, graph);
  bool still = status_of(cuda, stream, per_thread, &after) == CUDA_SUCCESS && after != CU_STREAM_CAPTURE_STATUS_NONE;
  int n = atomic_load(&vgpu_captures);
  while ((result == CUDA_SUCCESS || (recording && !still)) && n > 0 && !atomic_compare_exchange_weak(&vgpu_captures, &n, n - 1))
    continue;
  return result;
}

CUresult vgpu_on_cuStreamEndCapture(CUstream stream, CUgraph *graph) {
  return end(vgpu_driver(), vgpu_driver()->cuStreamEndCapture, stream, graph, false);
}
CUresult vgpu_on_cuStreamEndCapture_ptsz(CUstream stream, CUgraph *graph) {
  return end(vgpu_driver(), vgpu_driver()->cuStreamEndCapture_ptsz, stream, graph, true);
}

/* ---- nodes that allocate: from the next launch of such a graph on its memory is read */

static CUresult added(CUresult result, bool allocates) {
  if (result == CUDA_SUCCESS && allocates) atomic_store_explicit(&vgpu_graphs_allocate, 1, memory_order_relaxed);
  return result;
}

static bool allocates(const CUgraphNodeParams *params) {
  return params != NULL && params->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC;
}

CUresult vgpu_on_cuGraphAddMemAllocNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies, size_t count,
                                        CUDA_MEM_ALLOC_NODE_PARAMS *params) {
  return added(vgpu_driver()->cuGraphAddMemAllocNode(node, graph, dependencies, count, params), true);
}
CUresult vgpu_on_cuGraphAddNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies, size_t count,
                                CUgraphNodeParams *params) {
  return added(vgpu_driver()->cuGraphAddNode(node, graph, dependencies, count, params), allocates(params));
}
CUresult vgpu_on_cuGraphAddNode_v2(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                                   const CUgraphEdgeData *edges, size_t count, CUgraphNodeParams *params) {
  return added(vgpu_driver()->cuGraphAddNode_v2(node, graph, dependencies, edges, count, params), allocates(params));
}
CUresult vgpu_on_cuGraphAddNode_v3(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                                   const CUgraphEdgeData *edges, size_t count, CUgraphNodeParams *params) {
  return added(vgpu_driver()->cuGraphAddNode_v3(node, graph, dependencies, edges, count, params), allocates(params));
}

CUresult vgpu_on_cuGraphExecDestroy(CUgraphExec graph) {
  vgpu_pace_graph_gone(graph);
  return vgpu_driver()->cuGraphExecDestroy(graph);
}

CUresult vgpu_on_cuDeviceGraphMemTrim(CUdevice device) {
  const struct vgpu_cuda *cuda = vgpu_driver();
  CUresult result = cuda->cuDeviceGraphMemTrim(device);
  struct vgpu_place p;
  if (result == CUDA_SUCCESS && vgpu_place_device(cuda, device, &p)) vgpu_graph_memory_read(&p);
  return result;
}
