/* Graphs built by hand, node by node. */
#include "graph.h"
#include "kernel.h"
#include "move.h"

CUresult cuGraphCreate(CUgraph *graph, unsigned int flags);
CUresult cuGraphCreate(CUgraph *graph, unsigned int flags) {
  ENTER;
  if (graph == NULL || flags != 0) return CUDA_ERROR_INVALID_VALUE;
  *graph = graph_new();
  return *graph == NULL ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_SUCCESS;
}

CUresult cuGraphDestroy(CUgraph graph);
CUresult cuGraphDestroy(CUgraph graph) {
  ENTER;
  if (!graph_valid(graph)) return CUDA_ERROR_INVALID_VALUE;
  graph_free(graph);
  return CUDA_SUCCESS;
}

CUresult cuGraphClone(CUgraph *clone, CUgraph graph);
CUresult cuGraphClone(CUgraph *clone, CUgraph graph) {
  ENTER;
  if (clone == NULL || !graph_valid(graph)) return CUDA_ERROR_INVALID_VALUE;
  *clone = graph_copy(graph);
  return *clone == NULL ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_SUCCESS;
}

static CUresult add(CUgraphNode *node, CUgraph g, const CUgraphNode *before, size_t count,
                    const struct CUgraphNode_st *pattern) {
  if (node == NULL || !graph_valid(g) || (before == NULL && count > 0)) return CUDA_ERROR_INVALID_VALUE;
  *node = graph_add(g, pattern, before, count);
  return *node == NULL ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_SUCCESS;
}

/* ---- kernels ----------------------------------------------------------------------------------------------------------- */

static CUresult set_kernel(struct CUgraphNode_st *n, const CUDA_KERNEL_NODE_PARAMS *p, bool second) {
  if (p == NULL) return CUDA_ERROR_INVALID_VALUE;
  CUfunction f = p->func != NULL || !second ? p->func : (CUfunction)p->kern;
  if (!kernel_length(f, p->kernelParams, p->extra, &n->work_ns)) return CUDA_ERROR_INVALID_VALUE;
  n->type = CU_GRAPH_NODE_TYPE_KERNEL;
  n->kernels = 1;
  memcpy(&n->kernel, p, second ? sizeof *p : offsetof(CUDA_KERNEL_NODE_PARAMS, kern));
  return CUDA_SUCCESS;
}

static CUresult add_kernel(CUgraphNode *node, CUgraph g, const CUgraphNode *before, size_t count,
                           const CUDA_KERNEL_NODE_PARAMS *p, bool second) {
  struct CUgraphNode_st n = {0};
  CUresult result = set_kernel(&n, p, second);
  return result == CUDA_SUCCESS ? add(node, g, before, count, &n) : result;
}

CUresult cuGraphAddKernelNode(CUgraphNode *node, CUgraph g, const CUgraphNode *before, size_t count,
                              const CUDA_KERNEL_NODE_PARAMS *p);
CUresult cuGraphAddKernelNode(CUgraphNode *node, CUgraph g, const CUgraphNode *before, size_t count,
                              const CUDA_KERNEL_NODE_PARAMS *p) {
  ENTER;
  return add_kernel(node, g, before, count, p, false);
}

CUresult cuGraphAddKernelNode_v2(CUgraphNode *node, CUgraph g, const CUgraphNode *before, size_t count,
                                 const CUDA_KERNEL_NODE_PARAMS *p);
CUresult cuGraphAddKernelNode_v2(CUgraphNode *node, CUgraph g, const CUgraphNode *before, size_t count,
                                 const CUDA_KERNEL_NODE_PARAMS *p) {
  ENTER;
  return add_kernel(node, g, before, count, p, true);
}

CUresult cuGraphKernelNodeSetParams_v2(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS *p);
CUresult cuGraphKernelNodeSetParams_v2(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS *p) {
  ENTER;
  return node == NULL || node->magic != MAGIC_NODE ? CUDA_ERROR_INVALID_VALUE : set_kernel(node, p, true);
}

CUresult cuGraphKernelNodeGetParams_v2(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS *p);
CUresult cuGraphKernelNodeGetParams_v2(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS *p) {
  ENTER;
  if (node == NULL || node->magic != MAGIC_NODE || node->type != CU_GRAPH_NODE_TYPE_KERNEL || p == NULL)
    return CUDA_ERROR_INVALID_VALUE;
  *p = node->kernel;
  return CUDA_SUCCESS;
}

/* The executable graph has copies of the nodes; the kernel node with the same parameters is the one meant. */
CUresult cuGraphExecKernelNodeSetParams_v2(CUgraphExec exec, CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS *p);
CUresult cuGraphExecKernelNodeSetParams_v2(CUgraphExec exec, CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS *p) {
  ENTER;
  if (exec == NULL || exec->magic != MAGIC_EXEC || node == NULL || node->magic != MAGIC_NODE) return CUDA_ERROR_INVALID_VALUE;
  for (size_t i = 0; i < exec->graph->count; i++) {
    struct CUgraphNode_st *n = exec->graph->nodes[i];
    if (n->type == CU_GRAPH_NODE_TYPE_KERNEL && memcmp(&n->kernel, &node->kernel, sizeof n->kernel) == 0)
      return set_kernel(n, p, true);
  }
  return CUDA_ERROR_INVALID_VALUE;
}

/* ---- others ------------------------------------------------------------------------------------------------------------ */

CUresult cuGraphAddEmptyNode(CUgraphNode *node, CUgraph g, const CUgraphNode *before, size_t count);
CUresult cuGraphAddEmptyNode(CUgraphNode *node, CUgraph g, const CUgraphNode *before, size_t count) {
  ENTER;
  return add(node, g, before, count, &(struct CUgraphNode_st){.type = CU_NODE_EMPTY});
}

CUresult cuGraphAddHostNode(CUgraphNode *node, CUgraph g, const CUgraphNode *before, size_t count,
                            const CUDA_HOST_NODE_PARAMS *p);
CUresult cuGraphAddHostNode(CUgraphNode *node, CUgraph g, const CUgraphNode *before, size_t count,
                            const CUDA_HOST_NODE_PARAMS *p) {
  ENTER;
  if (p == NULL || p->fn == NULL) return CUDA_ERROR_INVALID_VALUE;
  return add(node, g, before, count, &(struct CUgraphNode_st){.type = CU_NODE_HOST, .call = p->fn, .data = p->userData});
}

CUresult cuGraphAddMemcpyNode(CUgraphNode *node, CUgraph g, const CUgraphNode *before, size_t count, const CUDA_MEMCPY3D *p,
                              CUcontext ctx);
CUresult cuGraphAddMemcpyNode(CUgraphNode *node, CUgraph g, const CUgraphNode *before, size_t count, const CUDA_MEMCPY3D *p,
                              CUcontext ctx) {
  ENTER;
  struct move m;
  (void)ctx;
  CUresult result = move_of_3d(p, &m);
  if (result != CUDA_SUCCESS) return result;
  return add(node, g, before, count,
             &(struct CUgraphNode_st){.type = CU_NODE_MEMCPY, .call = move_run, .data = &m, .data_bytes = sizeof m});
}

CUresult cuGraphAddMemsetNode(CUgraphNode *node, CUgraph g, const CUgraphNode *before, size_t count,
                              const CUDA_MEMSET_NODE_PARAMS *p, CUcontext ctx);
CUresult cuGraphAddMemsetNode(CUgraphNode *node, CUgraph g, const CUgraphNode *before, size_t count,
                              const CUDA_MEMSET_NODE_PARAMS *p, CUcontext ctx) {
  ENTER;
  struct move m;
  (void)ctx;
  if (p == NULL) return CUDA_ERROR_INVALID_VALUE;
  CUresult result = move_of_fill(p->dst, p->pitch, p->value, p->elementSize, p->width, p->height, &m);
  if (result != CUDA_SUCCESS) return result;
  return add(node, g, before, count,
             &(struct CUgraphNode_st){.type = CU_NODE_MEMSET, .call = move_run, .data = &m, .data_bytes = sizeof m});
}

CUresult cuGraphAddChildGraphNode(CUgraphNode *node, CUgraph g, const CUgraphNode *before, size_t count, CUgraph child);
CUresult cuGraphAddChildGraphNode(CUgraphNode *node, CUgraph g, const CUgraphNode *before, size_t count, CUgraph child) {
  ENTER;
  if (!graph_valid(child)) return CUDA_ERROR_INVALID_VALUE;
  struct CUgraph_st *copy = graph_copy(child);
  if (copy == NULL) return CUDA_ERROR_OUT_OF_MEMORY;
  return add(node, g, before, count, &(struct CUgraphNode_st){.type = CU_GRAPH_NODE_TYPE_GRAPH, .child = copy});
}

static CUresult add_alloc(CUgraphNode *node, CUgraph g, const CUgraphNode *before, size_t count,
                          CUDA_MEM_ALLOC_NODE_PARAMS *p) {
  if (!graph_valid(g) || p == NULL || p->bytesize == 0 || p->poolProps.location.type != CU_MEM_LOCATION_TYPE_DEVICE ||
      !valid_device(p->poolProps.location.id)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  uint64_t mapped = (p->bytesize + 4095) / 4096 * 4096;
  struct memory m = {.at = memory_map(mapped),
                     .bytes = p->bytesize,
                     .mapped = mapped,
                     .kind = MEMORY_GRAPH,
                     .device = p->poolProps.location.id};
  if (m.at == 0 || !memory_insert(&m)) return CUDA_ERROR_OUT_OF_MEMORY;
  p->dptr = m.at;
  g->device = m.device;
  return add(
      node, g, before, count,
      &(struct CUgraphNode_st){.type = CU_GRAPH_NODE_TYPE_MEM_ALLOC, .bytes = (m.bytes + 511) / 512 * 512, .dptr = m.at});
}

CUresult cuGraphAddMemAllocNode(CUgraphNode *node, CUgraph g, const CUgraphNode *before, size_t count,
                                CUDA_MEM_ALLOC_NODE_PARAMS *p) {
  ENTER;
  return add_alloc(node, g, before, count, p);
}

static CUresult add_free(CUgraphNode *node, CUgraph g, const CUgraphNode *before, size_t count, CUdeviceptr dptr) {
  struct memory m;
  if (!memory_find(dptr, &m) || m.at != dptr || m.kind != MEMORY_GRAPH) return CUDA_ERROR_INVALID_VALUE;
  return add(node, g, before, count,
             &(struct CUgraphNode_st){.type = CU_GRAPH_NODE_TYPE_MEM_FREE, .bytes = (m.bytes + 511) / 512 * 512, .dptr = dptr});
}

CUresult cuGraphAddMemFreeNode(CUgraphNode *node, CUgraph g, const CUgraphNode *before, size_t count, CUdeviceptr dptr);
CUresult cuGraphAddMemFreeNode(CUgraphNode *node, CUgraph g, const CUgraphNode *before, size_t count, CUdeviceptr dptr) {
  ENTER;
  return add_free(node, g, before, count, dptr);
}

/* One function for all kinds; the parameters lie behind the kind and 12 reserved bytes. */
static CUresult add_any(CUgraphNode *node, CUgraph g, const CUgraphNode *before, size_t count, CUgraphNodeParams *params) {
  if (params == NULL) return CUDA_ERROR_INVALID_VALUE;
  void *inside = params->reserved1;
  const CUDA_HOST_NODE_PARAMS *host = inside;
  switch ((int)params->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL: return add_kernel(node, g, before, count, inside, true);
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC: return add_alloc(node, g, before, count, inside);
    case CU_GRAPH_NODE_TYPE_MEM_FREE: return add_free(node, g, before, count, *(CUdeviceptr *)inside);
    case CU_NODE_EMPTY: return add(node, g, before, count, &(struct CUgraphNode_st){.type = CU_NODE_EMPTY});
    case CU_NODE_HOST:
      return add(node, g, before, count,
                 &(struct CUgraphNode_st){.type = CU_NODE_HOST, .call = host->fn, .data = host->userData});
    default: return CUDA_ERROR_NOT_SUPPORTED;
  }
}

CUresult cuGraphAddNode(CUgraphNode *node, CUgraph g, const CUgraphNode *before, size_t count, CUgraphNodeParams *params) {
  ENTER;
  return add_any(node, g, before, count, params);
}

CUresult cuGraphAddNode_v2(CUgraphNode *node, CUgraph g, const CUgraphNode *before, const CUgraphEdgeData *edges, size_t count,
                           CUgraphNodeParams *params) {
  ENTER;
  (void)edges;
  return add_any(node, g, before, count, params);
}

CUresult cuGraphAddNode_v3(CUgraphNode *node, CUgraph g, const CUgraphNode *before, const CUgraphEdgeData *edges, size_t count,
                           CUgraphNodeParams *params) {
  ENTER;
  (void)edges;
  return add_any(node, g, before, count, params);
}

CUresult cuGraphAddDependencies(CUgraph g, const CUgraphNode *from, const CUgraphNode *to, size_t count);
CUresult cuGraphAddDependencies(CUgraph g, const CUgraphNode *from, const CUgraphNode *to, size_t count) {
  ENTER;
  if (!graph_valid(g) || (count > 0 && (from == NULL || to == NULL))) return CUDA_ERROR_INVALID_VALUE;
  for (size_t i = 0; i < count; i++) {
    struct CUgraphNode_st *n = to[i];
    struct CUgraphNode_st **grown = realloc(n->before, (n->before_count + 1) * sizeof *grown);
    if (grown == NULL) return CUDA_ERROR_OUT_OF_MEMORY;
    n->before = grown;
    n->before[n->before_count++] = from[i];
  }
  return CUDA_SUCCESS;
}

CUresult cuGraphGetNodes(CUgraph g, CUgraphNode *nodes, size_t *count);
CUresult cuGraphGetNodes(CUgraph g, CUgraphNode *nodes, size_t *count) {
  ENTER;
  if (!graph_valid(g) || count == NULL) return CUDA_ERROR_INVALID_VALUE;
  for (size_t i = 0; nodes != NULL && i < *count; i++) nodes[i] = i < g->count ? g->nodes[i] : NULL;
  if (nodes == NULL || *count > g->count) *count = g->count;
  return CUDA_SUCCESS;
}

CUresult cuGraphNodeGetType(CUgraphNode node, int *type);
CUresult cuGraphNodeGetType(CUgraphNode node, int *type) {
  ENTER;
  if (node == NULL || node->magic != MAGIC_NODE || type == NULL) return CUDA_ERROR_INVALID_VALUE;
  *type = node->type;
  return CUDA_SUCCESS;
}
