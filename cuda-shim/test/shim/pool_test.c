/* Pools, graphs, handles and imports: what is charged is what the card gives, under however many names. */
#include "pool.h"
#include "../unit/check.h"
#include "exports.h"
#include "hooks.h"
#include "ledger.h"
#include "model.h"

static int64_t charged(void) { return regions.usage->slots[0].bytes[0]; }

static void begin(uint64_t limit_mib, uint32_t flags) {
  model_begin(16384);
  regions_begin(limit_mib, VGPU_LIMIT_MEMORY | flags);
  CHECK_EQ(vgpu_on_cuInit(0), CUDA_SUCCESS, "cuInit");
}

/* ---- pools */

static void a_pool_is_charged_by_what_it_reserves(void) {
  begin(128, 0);
  CUdeviceptr at;
  CHECK_EQ(vgpu_on_cuMemAllocAsync(&at, MODEL_MIB, NULL), CUDA_SUCCESS, "first");
  CHECK_EQ(charged(), 32 * MODEL_MIB, "a step of the pool");
  CHECK_EQ(vgpu_on_cuMemFreeAsync(at, NULL), CUDA_SUCCESS, "free");
  CHECK_EQ(charged(), 32 * MODEL_MIB, "back in the pool, not on the card");
  int queries = model.queries;
  for (int i = 0; i < 30; i++) {
    CHECK_EQ(vgpu_on_cuMemAllocAsync(&at, MODEL_MIB, NULL), CUDA_SUCCESS, "reuse");
    CHECK_EQ(vgpu_on_cuMemFreeAsync(at, NULL), CUDA_SUCCESS, "free");
  }
  CHECK(model.queries - queries <= 2, "%d questions to the driver in 30 rounds", model.queries - queries);
  CHECK_EQ(model.synchronisations, 0, "the stream was never waited for");
  CHECK_EQ(charged(), model.used, "exactly the card's");
}

static void a_pool_cannot_grow_beyond_the_limit(void) {
  begin(100, 0);
  CUdeviceptr at;
  int taken = 0;
  for (int i = 0; i < 20; i++) {
    CUresult result = vgpu_on_cuMemAllocAsync(&at, 16 * MODEL_MIB, NULL);
    if (result == CUDA_SUCCESS) taken++;
    if (result != CUDA_SUCCESS) CHECK_EQ(result, CUDA_ERROR_OUT_OF_MEMORY, "the only other answer");
  }
  CHECK_EQ(taken, 6, "three steps of 32 MiB");
  CHECK(model.peak <= (int64_t)(100 * MODEL_MIB), "%lld on the card", (long long)model.peak);
  CHECK(regions.usage->devices[0].oom_count >= 14, "%llu", (unsigned long long)regions.usage->devices[0].oom_count);
}

static void idle_memory_of_a_pool_is_given_back_before_anything_is_refused(void) {
  begin(100, 0);
  CUdeviceptr at;
  CHECK_EQ(vgpu_on_cuMemAllocAsync(&at, 90 * MODEL_MIB, NULL), CUDA_SUCCESS, "pool of 96");
  CHECK_EQ(vgpu_on_cuMemFreeAsync(at, NULL), CUDA_SUCCESS, "free");
  CHECK_EQ(charged(), 96 * MODEL_MIB, "held");
  CHECK_EQ(vgpu_on_cuMemAlloc_v2(&at, 80 * MODEL_MIB), CUDA_SUCCESS, "trimmed for it");
  CHECK_EQ(charged(), 80 * MODEL_MIB, "charged");
}

static void a_driver_that_grows_in_small_steps_is_learned(void) {
  begin(100, 0);
  model.pool_step = 2 * MODEL_MIB;
  CUdeviceptr at;
  CHECK_EQ(vgpu_on_cuMemAllocAsync(&at, MODEL_MIB, NULL), CUDA_SUCCESS, "first");
  CHECK_EQ(charged(), 2 * MODEL_MIB, "what it took");
  for (int i = 0; i < 97; i++) CHECK_EQ(vgpu_on_cuMemAllocAsync(&at, MODEL_MIB, NULL), CUDA_SUCCESS, "to the end");
  CHECK(model.peak <= (int64_t)(100 * MODEL_MIB), "%lld", (long long)model.peak);
}

static void a_pool_destroyed_with_memory_out_stays_charged_for_it(void) {
  begin(100, 0);
  CUdeviceptr at;
  CUmemoryPool pool;
  CHECK_EQ(vgpu_driver()->cuDeviceGetMemPool(&pool, 0), CUDA_SUCCESS, "pool");
  CHECK_EQ(vgpu_on_cuMemAllocAsync(&at, 64 * MODEL_MIB, NULL), CUDA_SUCCESS, "alloc");
  model.fail_next = CUDA_ERROR_INVALID_VALUE;
  CHECK_EQ(vgpu_on_cuMemPoolDestroy(pool), CUDA_ERROR_INVALID_VALUE, "the driver refuses");
  CHECK_EQ(charged(), 64 * MODEL_MIB, "as before");
  CHECK_EQ(vgpu_on_cuMemPoolDestroy(pool), CUDA_SUCCESS, "destroyed");
  CHECK_EQ(charged(), 64 * MODEL_MIB, "what is out still counts");
  CHECK_EQ(vgpu_on_cuMemAlloc_v2(&at, 40 * MODEL_MIB), CUDA_ERROR_OUT_OF_MEMORY, "no way around the limit");
  CHECK_EQ(vgpu_on_cuMemFreeAsync(0x123000, NULL), CUDA_SUCCESS, "freed");
  CHECK_EQ(charged(), 0, "given back");
}

static void a_captured_allocation_is_charged_when_the_graph_runs(void) {
  begin(100, 0);
  CUdeviceptr at;
  CUgraph graph;
  CHECK_EQ(vgpu_on_cuStreamBeginCapture_v2((CUstream)3, CU_STREAM_CAPTURE_MODE_GLOBAL), CUDA_SUCCESS, "begin");
  CHECK_EQ(vgpu_on_cuMemAllocAsync(&at, 64 * MODEL_MIB, (CUstream)3), CUDA_SUCCESS, "recorded");
  CHECK_EQ(charged(), 0, "nothing yet");
  model.fail_next = CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  CHECK_EQ(vgpu_on_cuStreamEndCapture((CUstream)3, &graph), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, "ends with an error");
  CHECK_EQ(vgpu_captures, 0, "but ends");
  model.graph_reserved = 64 * MODEL_MIB;
  CHECK_EQ(vgpu_on_cuGraphLaunch((CUgraphExec)1, NULL), CUDA_SUCCESS, "launch");
  CHECK_EQ(charged(), 64 * MODEL_MIB, "charged");
  model.graph_reserved = 0;
  CHECK_EQ(vgpu_on_cuGraphLaunch((CUgraphExec)1, NULL), CUDA_SUCCESS, "launch");
  CHECK_EQ(charged(), 0, "given back");
}

/* ---- handles */

static CUmemAllocationProp on_device(CUmemLocationType type) {
  return (CUmemAllocationProp){.type = CU_MEM_ALLOCATION_TYPE_PINNED, .location = {type, 0}};
}

static void memory_lives_as_long_as_a_handle_or_a_mapping(void) {
  begin(100, 0);
  CUmemAllocationProp prop = on_device(CU_MEM_LOCATION_TYPE_DEVICE);
  CUmemGenericAllocationHandle a, again, b;
  CHECK_EQ(vgpu_on_cuMemCreate(&a, 60 * MODEL_MIB, &prop, 0), CUDA_SUCCESS, "create");
  CHECK_EQ(vgpu_on_cuMemMap(0x10000000, 60 * MODEL_MIB, 0, a, 0), CUDA_SUCCESS, "map");
  CHECK_EQ(vgpu_on_cuMemMap(0x20000000, 60 * MODEL_MIB, 0, a, 0), CUDA_SUCCESS, "map twice");
  CHECK_EQ(vgpu_on_cuMemRelease(a), CUDA_SUCCESS, "release");
  CHECK_EQ(charged(), 60 * MODEL_MIB, "still mapped");
  CHECK_EQ(vgpu_on_cuMemCreate(&b, 41 * MODEL_MIB, &prop, 0), CUDA_ERROR_OUT_OF_MEMORY, "no room");
  CHECK_EQ(vgpu_on_cuMemUnmap(0x10000000, 60 * MODEL_MIB), CUDA_SUCCESS, "unmap");
  CHECK_EQ(charged(), 60 * MODEL_MIB, "once more mapped");
  CHECK_EQ(vgpu_on_cuMemRetainAllocationHandle(&again, (void *)0x20000100), CUDA_SUCCESS, "a handle by address");
  CHECK_EQ(vgpu_on_cuMemUnmap(0x20000000, 60 * MODEL_MIB), CUDA_SUCCESS, "unmap");
  CHECK_EQ(charged(), 60 * MODEL_MIB, "the handle holds it");
  CHECK_EQ(vgpu_on_cuMemRelease(again), CUDA_SUCCESS, "release");
  CHECK_EQ(charged(), 0, "gone");
}

static void one_unmapping_may_take_several_mappings(void) {
  begin(100, 0);
  CUmemAllocationProp prop = on_device(CU_MEM_LOCATION_TYPE_DEVICE);
  CUmemGenericAllocationHandle handles[4];
  for (uint64_t i = 0; i < 4; i++) {
    CHECK_EQ(vgpu_on_cuMemCreate(&handles[i], 2 * MODEL_MIB, &prop, 0), CUDA_SUCCESS, "create");
    CHECK_EQ(vgpu_on_cuMemMap(0x40000000 + i * 2 * MODEL_MIB, 2 * MODEL_MIB, 0, handles[i], 0), CUDA_SUCCESS, "map");
    CHECK_EQ(vgpu_on_cuMemRelease(handles[i]), CUDA_SUCCESS, "release");
  }
  CHECK_EQ(charged(), 8 * MODEL_MIB, "mapped");
  CHECK_EQ(vgpu_on_cuMemUnmap(0x40000000, 6 * MODEL_MIB), CUDA_SUCCESS, "three at once");
  CHECK_EQ(charged(), 2 * MODEL_MIB, "one left");
}

static void a_handles_number_given_out_again_is_other_memory(void) {
  begin(100, 0);
  CUmemAllocationProp prop = on_device(CU_MEM_LOCATION_TYPE_DEVICE);
  CUmemGenericAllocationHandle a;
  CHECK_EQ(vgpu_on_cuMemCreate(&a, 10 * MODEL_MIB, &prop, 0), CUDA_SUCCESS, "create");
  CHECK_EQ(vgpu_on_cuMemMap(0x50000000, 10 * MODEL_MIB, 0, a, 0), CUDA_SUCCESS, "map");
  CHECK_EQ(vgpu_on_cuMemRelease(a), CUDA_SUCCESS, "release while mapped");
  CHECK_EQ(vgpu_on_cuMemRelease(a), CUDA_SUCCESS, "the model accepts anything");
  CHECK_EQ(charged(), 10 * MODEL_MIB, "the mapping still holds it");
  CHECK_EQ(vgpu_on_cuMemUnmap(0x50000000, 10 * MODEL_MIB), CUDA_SUCCESS, "unmap");
  CHECK_EQ(charged(), 0, "gone once, not twice");
}

static void tiles_of_sparse_arrays_keep_their_memory(void) {
  begin(100, 0);
  CUmemAllocationProp prop = on_device(CU_MEM_LOCATION_TYPE_DEVICE);
  CUmemGenericAllocationHandle a;
  CHECK_EQ(vgpu_on_cuMemCreate(&a, 10 * MODEL_MIB, &prop, 0), CUDA_SUCCESS, "create");
  CUarrayMapInfo info = {.memOperationType = CU_MEM_OPERATION_TYPE_MAP, .memHandle = {a}};
  CHECK_EQ(vgpu_on_cuMemMapArrayAsync(&info, 1, NULL), CUDA_SUCCESS, "map");
  CHECK_EQ(vgpu_on_cuMemRelease(a), CUDA_SUCCESS, "release");
  CHECK_EQ(charged(), 10 * MODEL_MIB, "still under the array");
}

static void memory_of_the_host_is_the_cgroups(void) {
  begin(100, 0);
  CUmemAllocationProp prop = on_device(CU_MEM_LOCATION_TYPE_HOST_NUMA);
  CUmemGenericAllocationHandle a;
  CHECK_EQ(vgpu_on_cuMemCreate(&a, 500 * MODEL_MIB, &prop, 0), CUDA_SUCCESS, "create");
  CHECK_EQ(charged(), 0, "charged");
}

/* ---- imports */

static void an_import_is_charged_unless_this_container_exported_it(void) {
  begin(100, 0);
  CUdeviceptr at, opened, foreign;
  CUipcMemHandle handle, other;
  CHECK_EQ(vgpu_on_cuMemAlloc_v2(&at, MODEL_MIB), CUDA_SUCCESS, "alloc");
  CHECK_EQ(vgpu_on_cuIpcGetMemHandle(&handle, at), CUDA_SUCCESS, "export");
  CHECK_EQ(vgpu_on_cuIpcOpenMemHandle_v2(&opened, handle, 0), CUDA_SUCCESS, "open");
  CHECK_EQ(charged(), MODEL_MIB, "the owner pays");
  CHECK_EQ(vgpu_on_cuIpcCloseMemHandle(opened), CUDA_SUCCESS, "close");
  CHECK_EQ(charged(), MODEL_MIB, "nothing given back that was not taken");
  memset(&other, 7, sizeof other); /* of another container */
  CHECK_EQ(vgpu_on_cuIpcOpenMemHandle_v2(&foreign, other, 0), CUDA_SUCCESS, "open");
  CHECK_EQ(vgpu_on_cuIpcOpenMemHandle_v2(&foreign, other, 0), CUDA_SUCCESS, "again");
  CHECK_EQ(charged(), 65 * MODEL_MIB, "64 more, once");
  other.reserved[0] = 9;
  CHECK_EQ(vgpu_on_cuIpcOpenMemHandle_v2(&opened, other, 0), CUDA_ERROR_OUT_OF_MEMORY, "does not fit");
  CHECK_EQ(vgpu_on_cuIpcCloseMemHandle(foreign), CUDA_SUCCESS, "close");
  CHECK_EQ(charged(), 65 * MODEL_MIB, "still open");
  CHECK_EQ(vgpu_on_cuIpcCloseMemHandle(foreign), CUDA_SUCCESS, "close");
  CHECK_EQ(charged(), MODEL_MIB, "closed");
}

static void an_imported_handle_is_charged_when_it_is_mapped(void) {
  begin(100, 0);
  CUmemGenericAllocationHandle a;
  CHECK_EQ(vgpu_on_cuMemImportFromShareableHandle(&a, (void *)0x77, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR), CUDA_SUCCESS,
           "import");
  CHECK_EQ(charged(), 0, "size unknown");
  CHECK_EQ(vgpu_on_cuMemMap(0x60000000, 200 * MODEL_MIB, 0, a, 0), CUDA_ERROR_OUT_OF_MEMORY, "too big");
  CHECK_EQ(vgpu_on_cuMemMap(0x60000000, 20 * MODEL_MIB, 0, a, 0), CUDA_SUCCESS, "map");
  CHECK_EQ(charged(), 20 * MODEL_MIB, "charged");
  CHECK_EQ(vgpu_on_cuMemUnmap(0x60000000, 20 * MODEL_MIB), CUDA_SUCCESS, "unmap");
  CHECK_EQ(vgpu_on_cuMemRelease(a), CUDA_SUCCESS, "release");
  CHECK_EQ(charged(), 0, "gone");
  uint64_t size = 20 * MODEL_MIB;
  vgpu_export_note(vgpu_shared(), vgpu_hash(&size, sizeof size, 1)); /* as another process of the container would */
  CHECK_EQ(vgpu_on_cuMemImportFromShareableHandle(&a, (void *)0x78, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR), CUDA_SUCCESS,
           "import");
  CHECK_EQ(vgpu_on_cuMemMap(0x60000000, size, 0, a, 0), CUDA_SUCCESS, "map");
  CHECK_EQ(charged(), 0, "its owner pays");
}

/* ---- oversubscription */

static void what_is_beyond_the_cards_part_may_move_to_the_host(void) {
  begin(200, VGPU_LIMIT_OVERSUBSCRIBE);
  regions.limits->devices[0].mem_physical = 100 * MODEL_MIB;
  CUdeviceptr a, b, c;
  CUarray array;
  size_t available, total;
  CUDA_ARRAY3D_DESCRIPTOR desc = {MODEL_MIB, 2, 0, CU_AD_FORMAT_FLOAT, 1, 0};
  CHECK_EQ(vgpu_on_cuMemAlloc_v2(&a, 96 * MODEL_MIB), CUDA_SUCCESS, "on the card");
  CHECK_EQ(vgpu_on_cuMemAlloc_v2(&b, 64 * MODEL_MIB), CUDA_SUCCESS, "beyond");
  CHECK_EQ(model.managed_calls, 1, "as managed memory");
  CHECK_EQ(charged(), 96 * MODEL_MIB, "on the card");
  CHECK_EQ(regions.usage->slots[0].managed_pages[0], 64 * 256, "its own ledger");
  CHECK_EQ(vgpu_on_cuMemAlloc_v2(&c, 41 * MODEL_MIB), CUDA_ERROR_OUT_OF_MEMORY, "beyond the virtual limit");
  CHECK_EQ(vgpu_on_cuMemAlloc_v2(&c, 8 * MODEL_MIB), CUDA_ERROR_OUT_OF_MEMORY, "small blocks stay on the card");
  CHECK_EQ(vgpu_on_cuArray3DCreate_v2(&array, &desc), CUDA_ERROR_OUT_OF_MEMORY, "arrays cannot move");
  CHECK_EQ(vgpu_on_cuMemGetInfo_v2(&available, &total), CUDA_SUCCESS, "info");
  CHECK_EQ(total, 200 * MODEL_MIB, "virtual");
  CHECK_EQ(available, 40 * MODEL_MIB, "virtual");
  CHECK_EQ(vgpu_on_cuMemFree_v2(b), CUDA_ERROR_INVALID_VALUE, "the model does not know it");
  CHECK_EQ(regions.usage->slots[0].managed_pages[0], 64 * 256, "so it stays charged");
  CHECK_EQ(vgpu_on_cuMemFree_v2(a), CUDA_SUCCESS, "free");
  CHECK_EQ(charged(), 0, "charged");
}

static void managed_memory_counts_against_the_limit(void) {
  begin(100, 0);
  CUdeviceptr a;
  CHECK_EQ(vgpu_on_cuMemAllocManaged(&a, 60 * MODEL_MIB, CU_MEM_ATTACH_HOST), CUDA_SUCCESS, "attached to the host too");
  CHECK_EQ(vgpu_on_cuMemAllocManaged(&a, 41 * MODEL_MIB, CU_MEM_ATTACH_GLOBAL), CUDA_ERROR_OUT_OF_MEMORY, "too much");
  CHECK_EQ(vgpu_on_cuMemAlloc_v2(&a, 41 * MODEL_MIB), CUDA_ERROR_OUT_OF_MEMORY, "together");
  CHECK_EQ(vgpu_on_cuMemAlloc_v2(&a, 40 * MODEL_MIB), CUDA_SUCCESS, "what is left");
}

int main(void) {
  a_pool_is_charged_by_what_it_reserves();
  a_pool_cannot_grow_beyond_the_limit();
  idle_memory_of_a_pool_is_given_back_before_anything_is_refused();
  a_driver_that_grows_in_small_steps_is_learned();
  a_pool_destroyed_with_memory_out_stays_charged_for_it();
  a_captured_allocation_is_charged_when_the_graph_runs();
  memory_lives_as_long_as_a_handle_or_a_mapping();
  one_unmapping_may_take_several_mappings();
  a_handles_number_given_out_again_is_other_memory();
  tiles_of_sparse_arrays_keep_their_memory();
  memory_of_the_host_is_the_cgroups();
  an_import_is_charged_unless_this_container_exported_it();
  an_imported_handle_is_charged_when_it_is_mapped();
  what_is_beyond_the_cards_part_may_move_to_the_host();
  managed_memory_counts_against_the_limit();
  return check_result();
}
