/* Graphs as data: nodes, copies, an order that may run, and launching it. */
#include "graph.h"

struct CUgraph_st *graph_new(void) {
  struct CUgraph_st *g = calloc(1, sizeof *g);
  if (g != NULL) g->magic = MAGIC_GRAPH;
  return g;
}

void graph_free(struct CUgraph_st *g) {
  for (size_t i = 0; i < g->count; i++) {
    struct CUgraphNode_st *n = g->nodes[i];
    if (n->data_bytes > 0) free(n->data);
    if (n->child != NULL) graph_free(n->child);
    n->magic = MAGIC_GONE;
    free(n->before);
    free(n);
  }
  free(g->nodes);
  g->magic = MAGIC_GONE;
  free(g);
}

static bool fill(struct CUgraphNode_st *n, const struct CUgraphNode_st *pattern, const CUgraphNode *before, size_t count) {
  *n = *pattern;
  n->magic = MAGIC_NODE;
  n->before = NULL;
  n->before_count = 0;
  if (n->data_bytes > 0) {
    n->data = malloc(n->data_bytes);
    if (n->data == NULL) return false;
    memcpy(n->data, pattern->data, n->data_bytes);
  }
  if (count == 0) return true;
  n->before = calloc(count, sizeof *n->before);
  if (n->before == NULL) return false;
  memcpy(n->before, before, count * sizeof *before);
  n->before_count = count;
  return true;
}

struct CUgraphNode_st *graph_add(struct CUgraph_st *g, const struct CUgraphNode_st *pattern, const CUgraphNode *before,
                                 size_t count) {
  struct CUgraphNode_st *n = calloc(1, sizeof *n);
  struct CUgraphNode_st **grown = realloc(g->nodes, (g->count + 1) * sizeof *grown);
  if (grown != NULL) g->nodes = grown;
  if (n == NULL || grown == NULL || !fill(n, pattern, before, count)) {
    free(n);
    return NULL;
  }
  n->graph = g;
  g->nodes[g->count++] = n;
  return n;
}

static bool contains(const struct CUgraph_st *g, const struct CUgraphNode_st *n, size_t *at) {
  for (size_t i = 0; i < g->count; i++) {
    if (g->nodes[i] != n) continue;
    *at = i;
    return true;
  }
  return false;
}

/* Appends node i after all that it depends on; false on a circle or without memory. state: 0 new, 1 entered, 2 there. */
static bool append(const struct CUgraph_st *from, size_t i, char *state, struct CUgraph_st *to) {
  const struct CUgraphNode_st *n = from->nodes[i];
  size_t j = 0;
  if (state[i] == 2) return true;
  if (state[i] == 1) return false;
  state[i] = 1;
  for (size_t d = 0; d < n->before_count; d++) {
    if (contains(from, n->before[d], &j) && !append(from, j, state, to)) return false;
  }
  state[i] = 2;
  if (n->child == NULL) return graph_add(to, n, NULL, 0) != NULL;
  struct CUgraph_st *child = graph_copy(n->child);
  bool ok = child != NULL;
  for (size_t c = 0; ok && c < child->count; c++) ok = graph_add(to, child->nodes[c], NULL, 0) != NULL;
  if (child != NULL) graph_free(child);
  return ok;
}

struct CUgraph_st *graph_copy(const struct CUgraph_st *g) {
  struct CUgraph_st *copy = graph_new();
  char *state = calloc(g->count + 1, 1);
  bool ok = copy != NULL && state != NULL;
  for (size_t i = 0; ok && i < g->count; i++) ok = append(g, i, state, copy);
  free(state);
  if (!ok && copy != NULL) graph_free(copy);
  if (ok) copy->device = g->device;
  return ok ? copy : NULL;
}

/* ---- launching --------------------------------------------------------------------------------------------------------- */

static uint64_t freed_by(const struct CUgraph_st *g) {
  uint64_t sum = 0;
  for (size_t i = 0; i < g->count; i++) sum += g->nodes[i]->type == CU_GRAPH_NODE_TYPE_MEM_FREE ? g->nodes[i]->bytes : 0;
  return sum;
}

/* Physical memory appears at the launch. */
static CUresult take_memory(struct CUgraphExec_st *e) {
  const struct CUgraph_st *g = e->graph;
  uint64_t taken = 0;
  graph_memory_give(g->device, e->allocated); /* what the launch before left */
  e->allocated = 0;
  for (size_t i = 0; i < g->count; i++) {
    if (g->nodes[i]->type != CU_GRAPH_NODE_TYPE_MEM_ALLOC) continue;
    if (graph_memory_take(g->device, g->nodes[i]->bytes) != CUDA_SUCCESS) {
      graph_memory_give(g->device, taken);
      return CUDA_ERROR_OUT_OF_MEMORY;
    }
    taken += g->nodes[i]->bytes;
  }
  uint64_t freed = freed_by(g);
  graph_memory_give(g->device, freed < taken ? freed : taken);
  e->allocated = freed < taken ? taken - freed : 0;
  return CUDA_SUCCESS;
}

/* Kernels that follow each other are queued as one operation: the card runs them one after the other anyhow. */
static CUresult run_nodes(const struct CUgraph_st *g, struct CUstream_st *s) {
  uint64_t work = 0, kernels = 0;
  CUresult result = CUDA_SUCCESS;
  for (size_t i = 0; i < g->count && result == CUDA_SUCCESS; i++) {
    struct CUgraphNode_st *n = g->nodes[i];
    work += n->work_ns;
    kernels += n->kernels;
    if (n->call == NULL) continue;
    if (kernels > 0) result = stream_work(s, work, kernels);
    work = kernels = 0;
    if (result != CUDA_SUCCESS) break;
    result = n->type == CU_NODE_HOST ? stream_host(s, n->call, n->data) : stream_call(s, n->call, n->data, n->data_bytes);
  }
  return result == CUDA_SUCCESS ? stream_work(s, work, kernels) : result;
}

static CUresult capture_exec(const struct CUgraph_st *g, struct CUstream_st *s) {
  CUresult result = CUDA_SUCCESS;
  for (size_t i = 0; i < g->count && result == CUDA_SUCCESS; i++) {
    struct CUgraphNode_st *n = g->nodes[i];
    if (n->kernels > 0) result = capture_kernel(s, n->work_ns);
    if (n->call != NULL && n->type == CU_NODE_HOST) result = capture_host(s, n->call, n->data);
    if (n->call != NULL && n->type != CU_NODE_HOST) result = capture_call(s, n->call, n->data, n->data_bytes, n->type);
  }
  return result;
}

static CUresult do_cuGraphLaunch(CUgraphExec exec, CUstream stream, bool per_thread) {
  struct CUstream_st *s = stream_of(stream, per_thread);
  if (s == NULL) return context_current() == NULL ? CUDA_ERROR_INVALID_CONTEXT : CUDA_ERROR_INVALID_HANDLE;
  if (exec == NULL || exec->magic != MAGIC_EXEC) return CUDA_ERROR_INVALID_VALUE;
  if (s->capture != NULL) return capture_exec(exec->graph, s);
  CUresult result = capture_legacy(s);
  if (result == CUDA_SUCCESS) result = take_memory(exec);
  return result == CUDA_SUCCESS ? run_nodes(exec->graph, s) : result;
}
STREAM_PAIR(cuGraphLaunch, (CUgraphExec exec, CUstream stream), exec, stream)

/* ---- executable graphs ------------------------------------------------------------------------------------------------- */

static CUresult instantiate(CUgraphExec *out, CUgraph g) {
  if (out == NULL || !graph_valid(g)) return CUDA_ERROR_INVALID_VALUE;
  struct CUgraphExec_st *e = calloc(1, sizeof *e);
  if (e == NULL) return CUDA_ERROR_OUT_OF_MEMORY;
  e->graph = graph_copy(g);
  if (e->graph == NULL) {
    free(e);
    return CUDA_ERROR_INVALID_VALUE;
  }
  e->magic = MAGIC_EXEC;
  *out = e;
  return CUDA_SUCCESS;
}

CUresult cuGraphInstantiate(CUgraphExec *exec, CUgraph graph, CUgraphNode *node, char *log, size_t bytes);
CUresult cuGraphInstantiate(CUgraphExec *exec, CUgraph graph, CUgraphNode *node, char *log, size_t bytes) {
  ENTER;
  (void)node;
  if (log != NULL && bytes > 0) log[0] = '\0';
  return instantiate(exec, graph);
}

CUresult cuGraphInstantiate_v2(CUgraphExec *exec, CUgraph graph, CUgraphNode *node, char *log, size_t bytes);
CUresult cuGraphInstantiate_v2(CUgraphExec *exec, CUgraph graph, CUgraphNode *node, char *log, size_t bytes) {
  ENTER;
  (void)node;
  if (log != NULL && bytes > 0) log[0] = '\0';
  return instantiate(exec, graph);
}

CUresult cuGraphInstantiateWithFlags(CUgraphExec *exec, CUgraph graph, unsigned long long flags);
CUresult cuGraphInstantiateWithFlags(CUgraphExec *exec, CUgraph graph, unsigned long long flags) {
  ENTER;
  return flags > 15 ? CUDA_ERROR_INVALID_VALUE : instantiate(exec, graph);
}

static CUresult do_cuGraphInstantiateWithParams(CUgraphExec *exec, CUgraph graph, CUDA_GRAPH_INSTANTIATE_PARAMS *params,
                                                bool per_thread) {
  (void)per_thread;
  if (params == NULL) return CUDA_ERROR_INVALID_VALUE;
  CUresult result = instantiate(exec, graph);
  params->hErrNode_out = NULL;
  params->result_out = result == CUDA_SUCCESS ? 0 : 1;
  return result;
}
STREAM_PAIR(cuGraphInstantiateWithParams, (CUgraphExec * exec, CUgraph graph, CUDA_GRAPH_INSTANTIATE_PARAMS *params), exec,
            graph, params)

static CUresult do_cuGraphUpload(CUgraphExec exec, CUstream stream, bool per_thread) {
  if (exec == NULL || exec->magic != MAGIC_EXEC) return CUDA_ERROR_INVALID_VALUE;
  return stream_of(stream, per_thread) == NULL ? CUDA_ERROR_INVALID_HANDLE : CUDA_SUCCESS;
}
STREAM_PAIR(cuGraphUpload, (CUgraphExec exec, CUstream stream), exec, stream)

CUresult cuGraphExecDestroy(CUgraphExec exec) {
  ENTER;
  if (exec == NULL || exec->magic != MAGIC_EXEC) return CUDA_ERROR_INVALID_VALUE;
  graph_memory_give(exec->graph->device, exec->allocated);
  graph_free(exec->graph);
  exec->magic = MAGIC_GONE;
  free(exec);
  return CUDA_SUCCESS;
}

static CUresult update(CUgraphExec exec, CUgraph graph) {
  if (exec == NULL || exec->magic != MAGIC_EXEC || !graph_valid(graph)) return CUDA_ERROR_INVALID_VALUE;
  struct CUgraph_st *copy = graph_copy(graph);
  if (copy == NULL) return CUDA_ERROR_OUT_OF_MEMORY;
  bool same = copy->count == exec->graph->count;
  for (size_t i = 0; same && i < copy->count; i++) same = copy->nodes[i]->type == exec->graph->nodes[i]->type;
  if (!same) {
    graph_free(copy);
    return CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
  }
  graph_free(exec->graph);
  exec->graph = copy;
  return CUDA_SUCCESS;
}

CUresult cuGraphExecUpdate(CUgraphExec exec, CUgraph graph, CUgraphNode *node, int *what);
CUresult cuGraphExecUpdate(CUgraphExec exec, CUgraph graph, CUgraphNode *node, int *what) {
  ENTER;
  CUresult result = update(exec, graph);
  if (node != NULL) *node = NULL;
  if (what != NULL) *what = result == CUDA_SUCCESS ? 0 : 1;
  return result;
}

CUresult cuGraphExecUpdate_v2(CUgraphExec exec, CUgraph graph, CUgraphExecUpdateResultInfo *info);
CUresult cuGraphExecUpdate_v2(CUgraphExec exec, CUgraph graph, CUgraphExecUpdateResultInfo *info) {
  ENTER;
  CUresult result = update(exec, graph);
  if (info != NULL) *info = (CUgraphExecUpdateResultInfo){.result = result == CUDA_SUCCESS ? 0 : 1};
  return result;
}
