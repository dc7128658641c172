/* Graphs: nodes that launch together, and the streams that record them. */
#ifndef VGPU_FAKE_GRAPH_H
#define VGPU_FAKE_GRAPH_H

#include "driver.h"

enum { MAGIC_GRAPH = 0x47525046, MAGIC_EXEC = 0x45584543, MAGIC_NODE = 0x4E4F4445 };

struct CUgraphNode_st {
  uint32_t magic;
  int type;
  struct CUgraph_st *graph;
  uint64_t work_ns, kernels;      /* kernel */
  CUDA_KERNEL_NODE_PARAMS kernel; /* as given */
  void (*call)(void *);           /* copy, fill, host function */
  void *data;                     /* a copy if data_bytes > 0 */
  size_t data_bytes;
  uint64_t bytes;   /* allocation */
  CUdeviceptr dptr; /* allocation, release */
  struct CUgraph_st *child;
  struct CUgraphNode_st **before; /* dependencies */
  size_t before_count;
};

struct CUgraph_st {
  uint32_t magic;
  struct CUgraphNode_st **nodes;
  size_t count;
  CUdevice device; /* of allocations */
};

struct CUgraphExec_st {
  uint32_t magic;
  struct CUgraph_st *graph; /* our own copy, in an order that may run */
  uint64_t allocated;       /* of graph memory, held by allocations that no node of it frees */
};

struct CUgraph_st *graph_new(void);
void graph_free(struct CUgraph_st *g);
/* A node like the pattern; null if there is no memory. */
struct CUgraphNode_st *graph_add(struct CUgraph_st *g, const struct CUgraphNode_st *pattern, const CUgraphNode *before,
                                 size_t count);
/* Children laid out flat. */
struct CUgraph_st *graph_copy(const struct CUgraph_st *g);
static inline bool graph_valid(const struct CUgraph_st *g) { return g != NULL && g->magic == MAGIC_GRAPH; }

#endif
