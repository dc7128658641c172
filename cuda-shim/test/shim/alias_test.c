/* Limits by names of the environment: what they mean, what is not believed, and for whom they hold. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../unit/check.h"
#include "devices.h"
#include "hooks.h"
#include "ledger.h"
#include "model.h"
#include "pace.h"
#include "shared.h"
#include "text.h"

static const char *const STEMS[] = {"CUDA_MEM_LIMIT", "CUDA_DEVICE_MEMORY_LIMIT", "CUDA_CORE_LIMIT", "CUDA_DEVICE_SM_LIMIT"};

static void clear_environment(void) {
  for (int i = 0; i < 4; i++) {
    char name[64];
    (void)unsetenv(STEMS[i]);
    for (int k = 0; k <= VGPU_MAX_DEVICES; k++) {
      (void)snprintf(name, sizeof name, "%s_%d", STEMS[i], k);
      (void)unsetenv(name);
    }
  }
}

/* A new process, with settings "NAME=VALUE NAME=VALUE". */
static void begin(const char *settings) {
  char copy[256], *save, *one;
  model_begin(16384);
  regions_begin(1024, VGPU_LIMIT_MEMORY);
  (void)unsetenv("CUDA_SHIM_CONFIG_DIR");
  clear_environment();
  library_forget();
  (void)snprintf(copy, sizeof copy, "%s", settings);
  for (one = strtok_r(copy, " ", &save); one != NULL; one = strtok_r(NULL, " ", &save)) {
    char *value = strchr(one, '=');
    *value++ = '\0';
    CHECK_EQ(setenv(one, value, 1), 0, "setenv");
  }
}

static void what_values_mean(void) {
  static const struct {
    const char *settings;
    uint64_t memory; /* of device 0; 0: no limit */
    uint32_t permille;
  } rows[] = {
      {"CUDA_MEM_LIMIT=1073741824", (uint64_t)1 << 30, 1000},
      {"CUDA_MEM_LIMIT=3K", 3072, 1000},
      {"CUDA_MEM_LIMIT=3k", 3072, 1000},
      {"CUDA_MEM_LIMIT=512M", 512 * MODEL_MIB, 1000},
      {"CUDA_MEM_LIMIT=007g", 7168 * MODEL_MIB, 1000},
      {"CUDA_MEM_LIMIT=256T", (uint64_t)1 << 48, 1000},
      {"CUDA_DEVICE_MEMORY_LIMIT=2G", 2048 * MODEL_MIB, 1000},
      {"CUDA_MEM_LIMIT_0=1G CUDA_MEM_LIMIT=2G", 1024 * MODEL_MIB, 1000},
      {"CUDA_DEVICE_MEMORY_LIMIT_0=1G CUDA_MEM_LIMIT=2G", 1024 * MODEL_MIB, 1000},
      {"CUDA_DEVICE_MEMORY_LIMIT=1G CUDA_MEM_LIMIT=2G", 2048 * MODEL_MIB, 1000},
      {"CUDA_MEM_LIMIT_1=1G", 0, 0},
      {"CUDA_MEM_LIMIT_0=0 CUDA_MEM_LIMIT=1G", 0, 0},
      {"CUDA_CORE_LIMIT=25", 0, 250},
      {"CUDA_DEVICE_SM_LIMIT_0=1 CUDA_CORE_LIMIT=25", 0, 10},
      {"CUDA_CORE_LIMIT=100 CUDA_MEM_LIMIT=1G", 1024 * MODEL_MIB, 1000},
      {"CUDA_CORE_LIMIT=0 CUDA_MEM_LIMIT=1G", 1024 * MODEL_MIB, 1000},
      /* malformed: as if it were not there */
      {"CUDA_MEM_LIMIT= CUDA_CORE_LIMIT=50", 0, 500},
      {"CUDA_MEM_LIMIT=-1 CUDA_CORE_LIMIT=50", 0, 500},
      {"CUDA_MEM_LIMIT=+1 CUDA_CORE_LIMIT=50", 0, 500},
      {"CUDA_MEM_LIMIT=1.5G CUDA_CORE_LIMIT=50", 0, 500},
      {"CUDA_MEM_LIMIT=1GB CUDA_CORE_LIMIT=50", 0, 500},
      {"CUDA_MEM_LIMIT=1MiB CUDA_CORE_LIMIT=50", 0, 500},
      {"CUDA_MEM_LIMIT=G CUDA_CORE_LIMIT=50", 0, 500},
      {"CUDA_MEM_LIMIT=0x10 CUDA_CORE_LIMIT=50", 0, 500},
      {"CUDA_MEM_LIMIT=257T CUDA_CORE_LIMIT=50", 0, 500},
      {"CUDA_MEM_LIMIT=18446744073709551617 CUDA_CORE_LIMIT=50", 0, 500},
      {"CUDA_MEM_LIMIT=99999999999999999999999T CUDA_CORE_LIMIT=50", 0, 500},
      {"CUDA_MEM_LIMIT_0=x CUDA_MEM_LIMIT=1G", 1024 * MODEL_MIB, 1000},
      {"CUDA_MEM_LIMIT=x CUDA_DEVICE_MEMORY_LIMIT=1G", 1024 * MODEL_MIB, 1000},
      {"CUDA_CORE_LIMIT=101 CUDA_MEM_LIMIT=1G", 1024 * MODEL_MIB, 1000},
      {"CUDA_CORE_LIMIT=25% CUDA_MEM_LIMIT=1G", 1024 * MODEL_MIB, 1000},
      {"CUDA_CORE_LIMIT=1K CUDA_MEM_LIMIT=1G", 1024 * MODEL_MIB, 1000},
      {"CUDA_MEM_LIMIT_00=1G CUDA_MEM_LIMIT_16=1G", 0, 0},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    begin(rows[i].settings);
    struct vgpu_limit limit = {.flags = 0};
    const struct vgpu_shared *s = vgpu_shared();
    bool found = s->mode == VGPU_ACTIVE && vgpu_limit_read(s, 0, &limit);
    CHECK_EQ(found, rows[i].memory != 0 || rows[i].permille != 0, rows[i].settings);
    if (!found) continue;
    CHECK_EQ((limit.flags & VGPU_LIMIT_MEMORY) != 0, rows[i].memory != 0, rows[i].settings);
    CHECK_EQ((limit.flags & VGPU_LIMIT_COMPUTE) != 0, rows[i].permille < 1000, rows[i].settings);
    CHECK_EQ(limit.memory, rows[i].memory, rows[i].settings);
    CHECK_EQ(limit.core_hard_permille, rows[i].permille, rows[i].settings);
  }
}

static void nothing_set_is_no_limit(void) {
  begin("");
  CHECK_EQ(vgpu_shared()->mode, VGPU_PASSIVE, "nothing");
  begin("CUDA_MEM_LIMIT=nonsense");
  CHECK_EQ(vgpu_shared()->mode, VGPU_PASSIVE, "nothing that counts");
  begin("CUDA_MEM_LIMIT=1G");
  CHECK_EQ(setenv("CUDA_SHIM_DISABLE", "1", 1), 0, "setenv");
  CHECK_EQ(vgpu_shared()->mode, VGPU_PASSIVE, "switched off");
  CHECK_EQ(unsetenv("CUDA_SHIM_DISABLE"), 0, "unsetenv");
}

static void a_directory_wins(void) {
  begin("CUDA_MEM_LIMIT=2G");
  CHECK_EQ(setenv("CUDA_SHIM_CONFIG_DIR", regions.directory, 1), 0, "setenv");
  struct vgpu_limit limit;
  CHECK(vgpu_limit_read(vgpu_shared(), 0, &limit), "a limit");
  CHECK_EQ(limit.memory, 1024 * MODEL_MIB, "the directory's");
  CHECK(vgpu_shared()->own == NULL, "mapped");
  CHECK_EQ(setenv("CUDA_SHIM_CONFIG_DIR", "/no/such/directory", 1), 0, "setenv");
  library_forget();
  CHECK_EQ(vgpu_shared()->mode, VGPU_BROKEN, "one that is not there is no reason to take others");
  CHECK_EQ(unsetenv("CUDA_SHIM_CONFIG_DIR"), 0, "unsetenv");
}

static void it_is_enforced_and_shown(void) {
  begin("CUDA_MEM_LIMIT=1G CUDA_CORE_LIMIT=30");
  CHECK_EQ(vgpu_on_cuInit(0), CUDA_SUCCESS, "cuInit");
  CUdeviceptr a, b;
  size_t total, available;
  CHECK_EQ(vgpu_on_cuMemAlloc_v2(&a, 1000 * MODEL_MIB), CUDA_SUCCESS, "first");
  CHECK_EQ(vgpu_on_cuMemAlloc_v2(&b, 25 * MODEL_MIB), CUDA_ERROR_OUT_OF_MEMORY, "1 MiB too much");
  CHECK_EQ(vgpu_on_cuMemGetInfo_v2(&available, &total), CUDA_SUCCESS, "info");
  CHECK_EQ(total, 1024 * MODEL_MIB, "total");
  CHECK_EQ(available, 24 * MODEL_MIB, "available");
  CHECK((atomic_load(&vgpu_pace_flags)[0] & VGPU_LIMIT_COMPUTE) != 0, "launches are limited");
  CHECK_EQ(vgpu_entry_of_uuid(vgpu_shared(), "GPU-11111111-1111-1111-1111-1111111111a0"), 0, "NVML's side finds it");
  CHECK_EQ(vgpu_on_cuMemFree_v2(a), CUDA_SUCCESS, "free");
  CHECK_EQ(vgpu_on_cuMemAlloc_v2(&b, 1024 * MODEL_MIB), CUDA_SUCCESS, "all of it again");
}

static void another_devices_limit_is_not_ours(void) {
  begin("CUDA_MEM_LIMIT_7=1M");
  CHECK_EQ(vgpu_on_cuInit(0), CUDA_SUCCESS, "cuInit");
  CUdeviceptr a;
  CHECK_EQ(vgpu_on_cuMemAlloc_v2(&a, 2048 * MODEL_MIB), CUDA_SUCCESS, "unlimited");
}

static void it_holds_for_each_process_alone(void) {
  begin("CUDA_MEM_LIMIT=1G");
  CHECK_EQ(vgpu_on_cuInit(0), CUDA_SUCCESS, "cuInit");
  CUdeviceptr a, b;
  CHECK_EQ(vgpu_on_cuMemAlloc_v2(&a, 1000 * MODEL_MIB), CUDA_SUCCESS, "the parent's");
  pid_t child = fork();
  if (child == 0) {
    bool right = vgpu_on_cuInit(0) == CUDA_SUCCESS && vgpu_on_cuMemAlloc_v2(&b, 1024 * MODEL_MIB) == CUDA_SUCCESS &&
                 vgpu_on_cuMemAlloc_v2(&b, 1) == CUDA_ERROR_OUT_OF_MEMORY;
    _exit(right ? 0 : 1);
  }
  int status = -1;
  CHECK(child > 0 && waitpid(child, &status, 0) == child, "fork");
  CHECK_EQ(status, 0, "a child has a limit of its own");
  CHECK_EQ(vgpu_on_cuMemAlloc_v2(&b, 24 * MODEL_MIB), CUDA_SUCCESS, "and takes nothing from its parent's");
  CHECK_EQ(vgpu_on_cuMemAlloc_v2(&b, 1), CUDA_ERROR_OUT_OF_MEMORY, "which is as it was");
}

int main(void) {
  what_values_mean();
  nothing_set_is_no_limit();
  a_directory_wins();
  it_is_enforced_and_shown();
  another_devices_limit_is_not_ours();
  it_holds_for_each_process_alone();
  return check_result();
}
