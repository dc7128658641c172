/* No limiter yet: launches pass. The seam is complete, so that the limiter changes nothing but this file. */
#include "pace.h"

static const uint32_t none_limited;

_Atomic(const uint32_t *) vgpu_pace_flags = &none_limited;

void vgpu_pace_start(const struct vgpu_cuda *cuda, const struct vgpu_shared *shared) {
  (void)cuda;
  (void)shared;
}

void vgpu_pace_before(struct vgpu_launch *launch) { (void)launch; }

void vgpu_pace_after(struct vgpu_launch *launch, bool launched) {
  (void)launch;
  (void)launched;
}

void vgpu_pace_wait(const struct vgpu_cuda *cuda) { (void)cuda; }
void vgpu_pace_stream_gone(CUstream stream) { (void)stream; }
void vgpu_pace_context_gone(CUcontext ctx) { (void)ctx; }
void vgpu_pace_graph_gone(CUgraphExec graph) { (void)graph; }
