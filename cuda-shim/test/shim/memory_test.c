/* What is counted, what is refused, and what comes back: the hooks over a model of a card. */
#include "../unit/check.h"
#include "array_size.h"
#include "hooks.h"
#include "ledger.h"
#include "model.h"

static int64_t charged(void) { return regions.usage->slots[0].bytes[0]; }

static void begin(uint64_t limit_mib, uint32_t flags) {
  model_begin(16384);
  regions_begin(limit_mib, VGPU_LIMIT_MEMORY | flags);
  CHECK_EQ(vgpu_on_cuInit(0), CUDA_SUCCESS, "cuInit");
}

static void what_does_not_fit_is_refused_and_counted_with_its_size(void) {
  begin(1024, 0);
  CUdeviceptr a, b;
  CHECK_EQ(vgpu_on_cuMemAlloc_v2(&a, 1000 * MODEL_MIB), CUDA_SUCCESS, "first");
  CHECK_EQ(charged(), 1000 * MODEL_MIB, "charged");
  CHECK_EQ(vgpu_on_cuMemAlloc_v2(&b, 25 * MODEL_MIB), CUDA_ERROR_OUT_OF_MEMORY, "1 MiB too much");
  CHECK_EQ(regions.usage->devices[0].oom_count, 1, "refusals");
  CHECK_EQ(regions.usage->devices[0].oom_bytes, 25 * MODEL_MIB, "size of the refusal");
  CHECK_EQ(model.used, 1000 * MODEL_MIB, "the driver was not asked");
  CHECK_EQ(vgpu_on_cuMemAlloc_v2(&b, 24 * MODEL_MIB), CUDA_SUCCESS, "to the last byte");
  CHECK_EQ(vgpu_on_cuMemAlloc_v2(&b, 1), CUDA_ERROR_OUT_OF_MEMORY, "one byte more");
  CHECK_EQ(regions.usage->devices[0].peak, 1024 * MODEL_MIB, "peak");
  CHECK_EQ(vgpu_on_cuMemFree_v2(a), CUDA_SUCCESS, "free");
  CHECK_EQ(charged(), 24 * MODEL_MIB, "given back");
}

static void absurd_sizes_are_refused(void) {
  begin(1024, 0);
  CUdeviceptr at;
  size_t pitch;
  CHECK_EQ(vgpu_on_cuMemAlloc_v2(&at, SIZE_MAX), CUDA_ERROR_OUT_OF_MEMORY, "all ones");
  CHECK_EQ(vgpu_on_cuMemAlloc_v2(&at, (size_t)1 << 62), CUDA_ERROR_OUT_OF_MEMORY, "2^62");
  CHECK_EQ(vgpu_on_cuMemAllocPitch_v2(&at, &pitch, SIZE_MAX, 2, 4), CUDA_ERROR_OUT_OF_MEMORY, "width");
  CHECK_EQ(vgpu_on_cuMemAllocPitch_v2(&at, &pitch, (size_t)1 << 40, (size_t)1 << 40, 4), CUDA_ERROR_OUT_OF_MEMORY, "product");
  CHECK_EQ(charged(), 0, "charged");
}

static void a_failure_of_the_driver_leaves_nothing_charged(void) {
  begin(1024, 0);
  CUdeviceptr at;
  model.fail_next = CUDA_ERROR_ILLEGAL_ADDRESS;
  CHECK_EQ(vgpu_on_cuMemAlloc_v2(&at, MODEL_MIB), CUDA_ERROR_ILLEGAL_ADDRESS, "its own code");
  CHECK_EQ(charged(), 0, "charged");
  CHECK_EQ(vgpu_on_cuMemAlloc_v2(&at, MODEL_MIB), CUDA_SUCCESS, "alloc");
  model.fail_next = CUDA_ERROR_LAUNCH_FAILED;
  CHECK_EQ(vgpu_on_cuMemFree_v2(at), CUDA_ERROR_LAUNCH_FAILED, "free fails");
  CHECK_EQ(charged(), MODEL_MIB, "still charged");
  CHECK_EQ(vgpu_on_cuMemFree_v2(at), CUDA_SUCCESS, "free");
  CHECK_EQ(vgpu_on_cuMemFree_v2(0), CUDA_SUCCESS, "null");
  CHECK_EQ(vgpu_on_cuMemFree_v2(0xDEAD000), CUDA_ERROR_INVALID_VALUE, "an unknown pointer is the driver's to judge");
  CHECK_EQ(charged(), 0, "charged");
}

static void a_pitch_is_charged_as_the_driver_chose_it(void) {
  begin(1024, 0);
  CUdeviceptr at;
  size_t pitch;
  CHECK_EQ(vgpu_on_cuMemAllocPitch_v2(&at, &pitch, 600, 1000, 4), CUDA_SUCCESS, "pitch");
  CHECK_EQ(charged(), 1024 * 1000, "pitch times height");
  CHECK_EQ(vgpu_on_cuMemFree_v2(at), CUDA_SUCCESS, "free");
  CHECK_EQ(charged(), 0, "charged");
}

static void arrays_cost_what_their_dimensions_say(void) {
  static const struct {
    CUDA_ARRAY3D_DESCRIPTOR desc;
    unsigned int levels;
    uint64_t bytes;
    const char *what;
  } rows[] = {
      {{1024, 0, 0, CU_AD_FORMAT_FLOAT, 1, 0}, 1, 4096, "1D"},
      {{1024, 1024, 0, CU_AD_FORMAT_FLOAT, 4, 0}, 1, 16 << 20, "2D of four channels"},
      {{1024, 1024, 0, CU_AD_FORMAT_UNSIGNED_INT8, 1, 0}, 1, 1 << 20, "bytes, not bits"},
      {{256, 256, 256, CU_AD_FORMAT_HALF, 1, 0}, 1, 32 << 20, "3D"},
      {{1024, 0, 6, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_LAYERED}, 1, 24576, "layers are in the depth"},
      {{512, 512, 6, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_CUBEMAP}, 1, 6 << 20, "faces are in the depth"},
      {{1024, 1024, 0, CU_AD_FORMAT_FLOAT, 1, 0}, 11, 0, "levels"},
      {{1024, 1024, 0, CU_AD_FORMAT_BC1_UNORM, 4, 0}, 1, 512 << 10, "blocks of 4x4 in 8 bytes"},
      {{1024, 1024, 0, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_SPARSE}, 1, 0, "sparse"},
      {{1024, 1024, 0, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_DEFERRED_MAPPING}, 1, 0, "deferred"},
      {{SIZE_MAX, SIZE_MAX, 2, CU_AD_FORMAT_FLOAT, 4, 0}, 1, UINT64_MAX, "beyond all cards"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    uint64_t bytes = rows[i].bytes;
    for (uint64_t side = 1024; rows[i].levels > 1 && side > 0; side /= 2) bytes += (side * side * 4 + 511) / 512 * 512;
    CHECK_EQ(vgpu_array_bytes(&rows[i].desc, rows[i].levels), bytes, rows[i].what);
  }
  begin(16, 0);
  CUarray array;
  CHECK_EQ(vgpu_on_cuArray3DCreate_v2(&array, &rows[1].desc), CUDA_SUCCESS, "fits exactly");
  CHECK_EQ(charged(), 16 << 20, "charged");
  CHECK_EQ(vgpu_on_cuArray3DCreate_v2(&array, &rows[0].desc), CUDA_ERROR_OUT_OF_MEMORY, "4 KiB more");
  CHECK_EQ(vgpu_on_cuArrayDestroy(array), CUDA_SUCCESS, "destroy");
  CHECK_EQ(charged(), 0, "charged");
}

static void the_program_is_told_of_its_own_part(void) {
  begin(1024, 0);
  CUdeviceptr at;
  size_t available, total, bytes;
  CHECK_EQ(vgpu_on_cuMemAlloc_v2(&at, 24 * MODEL_MIB), CUDA_SUCCESS, "alloc");
  CHECK_EQ(vgpu_on_cuMemGetInfo_v2(&available, &total), CUDA_SUCCESS, "info");
  CHECK_EQ(total, 1024 * MODEL_MIB, "total");
  CHECK_EQ(available, 1000 * MODEL_MIB, "free");
  CHECK_EQ(vgpu_on_cuDeviceTotalMem_v2(&bytes, 0), CUDA_SUCCESS, "total of the device");
  CHECK_EQ(bytes, 1024 * MODEL_MIB, "total");
  model.used = (int64_t)(16384 - 100) * (int64_t)MODEL_MIB; /* others have filled the card */
  CHECK_EQ(vgpu_on_cuMemGetInfo_v2(&available, &total), CUDA_SUCCESS, "info");
  CHECK_EQ(available, 100 * MODEL_MIB, "not more than the card has");
  regions.limits->devices[0].mem_limit = 10 * MODEL_MIB; /* the limit was lowered below what is in use */
  CHECK_EQ(vgpu_on_cuMemGetInfo_v2(&available, &total), CUDA_SUCCESS, "info");
  CHECK_EQ(available, 0, "never below nothing");
}

static void without_a_memory_limit_all_is_counted_and_nothing_refused(void) {
  begin(16, 0);
  regions.limits->devices[0].flags = VGPU_LIMIT_ACTIVE | VGPU_LIMIT_COMPUTE;
  CUdeviceptr at;
  size_t available, total;
  CHECK_EQ(vgpu_on_cuMemAlloc_v2(&at, 100 * MODEL_MIB), CUDA_SUCCESS, "beyond");
  CHECK_EQ(charged(), 100 * MODEL_MIB, "charged");
  CHECK_EQ(vgpu_on_cuMemGetInfo_v2(&available, &total), CUDA_SUCCESS, "info");
  CHECK_EQ(total, 16384 * MODEL_MIB, "the card's");
}

static void a_context_is_charged_before_it_is_made_and_takes_its_memory_along(void) {
  begin(150, 0);
  CUcontext ctx, second;
  CUdeviceptr at;
  CHECK_EQ(vgpu_on_cuCtxCreate_v2(&ctx, 0, 0), CUDA_SUCCESS, "context of 100");
  CHECK_EQ(regions.usage->slots[0].overhead_pages[0], 25600, "pages");
  CHECK_EQ(vgpu_on_cuCtxCreate_v2(&second, 0, 0), CUDA_ERROR_OUT_OF_MEMORY, "a second one");
  CHECK_EQ(vgpu_on_cuMemAlloc_v2(&at, 51 * MODEL_MIB), CUDA_ERROR_OUT_OF_MEMORY, "the context is in the sum");
  CHECK_EQ(vgpu_on_cuMemAlloc_v2(&at, 50 * MODEL_MIB), CUDA_SUCCESS, "what is left");
  CHECK_EQ(vgpu_on_cuCtxDestroy_v2(ctx), CUDA_SUCCESS, "destroy");
  CHECK_EQ(charged(), 0, "its memory is gone too");
  CHECK_EQ(regions.usage->slots[0].overhead_pages[0], 0, "pages");
  CHECK_EQ(vgpu_on_cuDevicePrimaryCtxRetain(&ctx, 0), CUDA_SUCCESS, "primary");
  CHECK_EQ(vgpu_on_cuDevicePrimaryCtxRetain(&ctx, 0), CUDA_SUCCESS, "again");
  CHECK_EQ(regions.usage->slots[0].overhead_pages[0], 25600, "once");
  CHECK_EQ(vgpu_on_cuMemAlloc_v2(&at, MODEL_MIB), CUDA_SUCCESS, "alloc");
  CHECK_EQ(vgpu_on_cuDevicePrimaryCtxRelease_v2(0), CUDA_SUCCESS, "release");
  CHECK_EQ(charged(), MODEL_MIB, "still retained");
  CHECK_EQ(vgpu_on_cuDevicePrimaryCtxRelease_v2(0), CUDA_SUCCESS, "release");
  CHECK_EQ(charged(), 0, "gone");
  CHECK_EQ(regions.usage->slots[0].overhead_pages[0], 0, "pages");
}

static CUresult measured(uint32_t sample, uint64_t mib) {
  CUdeviceptr at;
  regions.load->devices[0].context_bytes = mib * MODEL_MIB;
  regions.load->devices[0].context_sample = sample;
  regions.load->devices[0].sample_ns++;
  CUresult result = vgpu_on_cuMemAlloc_v2(&at, MODEL_MIB);
  return result == CUDA_SUCCESS ? vgpu_on_cuMemFree_v2(at) : result;
}

static void the_guess_for_contexts_is_replaced_by_what_the_agent_measured(void) {
  begin(1024, 0);
  CUcontext ctx, second;
  regions.load->devices[0].context_sample = 7; /* of the container as it was before */
  regions.load->devices[0].context_bytes = 9 * MODEL_MIB;
  CHECK_EQ(vgpu_on_cuCtxCreate_v2(&ctx, 0, 0), CUDA_SUCCESS, "context");
  for (uint32_t i = 7; i < 7 + VGPU_CONTEXT_SAMPLES; i++) {
    CHECK_EQ(measured(i, 9), CUDA_SUCCESS, "alloc");
    CHECK_EQ(regions.usage->slots[0].overhead_pages[0], 25600, "may be from before the context");
  }
  CHECK_EQ(measured(10, 301), CUDA_SUCCESS, "alloc");
  CHECK_EQ(regions.usage->slots[0].overhead_pages[0], 301 * 256, "the agent's figure");
  CHECK_EQ(vgpu_on_cuCtxCreate_v2(&second, 0, 0), CUDA_SUCCESS, "a second context");
  CHECK_EQ(measured(12, 301), CUDA_SUCCESS, "alloc");
  CHECK_EQ(regions.usage->slots[0].overhead_pages[0], 401 * 256, "it was measured before the second context");
  CHECK_EQ(measured(13, 390), CUDA_SUCCESS, "alloc");
  CHECK_EQ(regions.usage->slots[0].overhead_pages[0], 390 * 256, "both, by the figure");
  CHECK_EQ(measured(14, 0), CUDA_SUCCESS, "alloc");
  CHECK_EQ(regions.usage->slots[0].overhead_pages[0], 1, "never the word for no context");
  regions.load->devices[0].context_sample = 15;
  regions.load->devices[0].context_bytes = UINT64_MAX;
  CUdeviceptr at;
  CHECK_EQ(vgpu_on_cuMemAlloc_v2(&at, MODEL_MIB), CUDA_SUCCESS, "alloc");
  CHECK_EQ(regions.usage->slots[0].overhead_pages[0], 1, "absurd figures change nothing");
  CHECK_EQ(measured(16, 1023), CUDA_ERROR_OUT_OF_MEMORY, "what contexts take is not there for allocations");
}

static void pinned_memory_has_a_quota_of_its_own(void) {
  begin(1024, VGPU_LIMIT_PINNED_HOST);
  regions.limits->devices[0].host_pinned_limit = 64 * MODEL_MIB;
  void *at, *more;
  CHECK_EQ(vgpu_on_cuMemHostAlloc(&at, 64 * MODEL_MIB, 0), CUDA_SUCCESS, "pinned");
  CHECK_EQ(vgpu_on_cuMemHostAlloc(&more, 1, 0), CUDA_ERROR_OUT_OF_MEMORY, "one byte more");
  CHECK_EQ(regions.usage->slots[0].host_pinned_bytes, 64 * MODEL_MIB, "counted");
  CHECK_EQ(charged(), 0, "no device memory");
  CHECK_EQ(vgpu_on_cuMemFreeHost(at), CUDA_SUCCESS, "free");
  CHECK_EQ(regions.usage->slots[0].host_pinned_bytes, 0, "counted");
}

static void the_old_abi_is_no_way_around_a_strict_limit(void) {
  begin(1024, VGPU_LIMIT_STRICT);
  CUdeviceptr_v1 at;
  int calls = model.calls;
  CHECK_EQ(vgpu_on_cuMemAlloc(&at, 4096), CUDA_ERROR_NOT_SUPPORTED, "refused");
  CHECK_EQ(model.calls, calls, "not asked");
}

static void several_devices_are_told_apart(void) {
  model_begin(16384);
  regions_begin(64, VGPU_LIMIT_MEMORY);
  model.devices = 3;
  regions.limits->header.device_count = 2;
  regions.limits->devices[1] = regions.limits->devices[0];
  (void)strcpy(regions.limits->devices[1].uuid, "GPU-11111111-1111-1111-1111-1111111111A2");
  CHECK_EQ(vgpu_on_cuInit(0), CUDA_SUCCESS, "cuInit");
  CUdeviceptr at;
  model.current = 2;
  CHECK_EQ(vgpu_on_cuMemAlloc_v2(&at, 64 * MODEL_MIB), CUDA_SUCCESS, "third device, second entry");
  CHECK_EQ(regions.usage->slots[0].bytes[1], 64 * MODEL_MIB, "entry 1");
  CHECK_EQ(charged(), 0, "entry 0");
  CHECK_EQ(vgpu_on_cuMemAlloc_v2(&at, 1), CUDA_ERROR_OUT_OF_MEMORY, "full");
  model.current = 0;
  CHECK_EQ(vgpu_on_cuMemAlloc_v2(&at, MODEL_MIB), CUDA_SUCCESS, "the other is not");
  model.current = 1;
  CHECK_EQ(vgpu_on_cuMemAlloc_v2(&at, 100 * MODEL_MIB), CUDA_SUCCESS, "a device without an entry has no limit");
}

int main(void) {
  what_does_not_fit_is_refused_and_counted_with_its_size();
  absurd_sizes_are_refused();
  a_failure_of_the_driver_leaves_nothing_charged();
  a_pitch_is_charged_as_the_driver_chose_it();
  arrays_cost_what_their_dimensions_say();
  the_program_is_told_of_its_own_part();
  without_a_memory_limit_all_is_counted_and_nothing_refused();
  a_context_is_charged_before_it_is_made_and_takes_its_memory_along();
  the_guess_for_contexts_is_replaced_by_what_the_agent_measured();
  pinned_memory_has_a_quota_of_its_own();
  the_old_abi_is_no_way_around_a_strict_limit();
  several_devices_are_told_apart();
  return check_result();
}
