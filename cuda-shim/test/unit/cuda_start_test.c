/* Start, devices, contexts, look-ups, and what a fork leaves: the order and the codes of the real driver. */
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cuda_calls.h"

static void before_init(void) {
  int n = 0, version = 0;
  void *f = NULL;
  REFUSED(cuDeviceGetCount(&n), CUDA_ERROR_NOT_INITIALIZED);
  OK(cuDriverGetVersion(&version));
  CHECK_EQ(version, 13000, "the profile's version");
  /* What CUDA's runtime asks first: no name, version 0, no status. */
  OK(cuGetProcAddress_v2("", &f, 0, 0, NULL));
  CHECK(f == NULL, "an empty name has an address");
  REFUSED(cuInit(1), CUDA_ERROR_INVALID_VALUE);
}

static void devices(void) {
  int n = 0, sms = 0, managed = 0;
  size_t total = 0;
  char name[64];
  CUuuid uuid;
  OK(cuDeviceGetCount(&n));
  CHECK_EQ(n, 2, "devices");
  OK(cuDeviceGetName(name, sizeof name, 1));
  CHECK(strcmp(name, "NVIDIA H200") == 0, "name %s", name);
  OK(cuDeviceGetUuid_v2(&uuid, 1));
  CHECK_EQ(uuid.bytes[0], 2, "first byte of the uuid");
  CHECK_EQ(uuid.bytes[15], 1, "last byte of the uuid");
  OK(cuDeviceGetAttribute(&sms, 16, 0));
  CHECK_EQ(sms, 132, "multiprocessors");
  OK(cuDeviceGetAttribute(&managed, 89, 0));
  CHECK_EQ(managed, 1, "concurrent managed access");
  REFUSED(cuDeviceGetAttribute(&sms, 4000, 0), CUDA_ERROR_INVALID_VALUE);
  OK(cuDeviceTotalMem_v2(&total, 0));
  CHECK_EQ(total >> 20, 143155, "MiB for programs");
  REFUSED(cuDeviceTotalMem_v2(&total, 2), CUDA_ERROR_INVALID_DEVICE);
}

static size_t available(void) {
  size_t free_bytes = 0, total = 0;
  OK(cuMemGetInfo_v2(&free_bytes, &total));
  return free_bytes;
}

static void contexts(void) {
  CUcontext primary = NULL, again = NULL, own = NULL, seen = NULL;
  CUdeviceptr p = 0;
  CUdevice d = -1;
  REFUSED(cuMemAlloc_v2(&p, 1), CUDA_ERROR_INVALID_CONTEXT);
  OK(cuDevicePrimaryCtxRetain(&primary, 0));
  OK(cuDevicePrimaryCtxRetain(&again, 0));
  CHECK(primary == again, "two primary contexts of one device");
  OK(cuCtxSetCurrent(primary));
  size_t before = available();
  OK(cuCtxCreate_v2(&own, 0, 0));
  OK(cuCtxGetCurrent(&seen));
  CHECK(seen == own, "a new context is current");
  CHECK_EQ((before - available()) >> 20, 520, "MiB that a context takes");
  OK(cuMemAlloc_v2(&p, 1 << 20));
  OK(cuCtxPushCurrent_v2(primary));
  OK(cuCtxGetDevice(&d));
  CHECK_EQ(d, 0, "device of the context");
  OK(cuCtxPopCurrent_v2(&seen));
  CHECK(seen == primary, "popped another one");
  OK(cuCtxDestroy_v2(own));
  REFUSED(cuCtxPushCurrent_v2(own), CUDA_ERROR_INVALID_CONTEXT);
  OK(cuCtxGetCurrent(&seen));
  CHECK(seen == primary, "below the destroyed one is the primary");
  CHECK_EQ(available(), before, "a destroyed context gives all back");
  OK(cuDevicePrimaryCtxRelease_v2(0));
  OK(cuMemAlloc_v2(&p, 1 << 20));
  OK(cuDevicePrimaryCtxRelease_v2(0));
  REFUSED(cuMemAlloc_v2(&p, 1 << 20), CUDA_ERROR_INVALID_CONTEXT);
  REFUSED(cuDevicePrimaryCtxRelease_v2(0), CUDA_ERROR_INVALID_CONTEXT);
  OK(cuDevicePrimaryCtxRetain(&again, 0));
  CHECK(primary == again, "the primary context has one handle for ever");
  CHECK_EQ(available(), before, "a released context gave its memory back");
}

static void *ask(const char *name, int version, cuuint64_t flags, CUdriverProcAddressQueryResult wanted) {
  void *f = NULL;
  CUdriverProcAddressQueryResult status = (CUdriverProcAddressQueryResult)9;
  OK(cuGetProcAddress_v2(name, &f, version, flags, &status));
  CHECK_EQ(status, wanted, name);
  return f;
}

static void lookups(void) {
  void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  void *self = driver != NULL ? driver : RTLD_DEFAULT; /* linked in */
  static const struct {
    const char *name;
    int version;
    cuuint64_t flags;
    const char *symbol;
  } ROWS[] = {
      {"cuMemAlloc", 3020, 0, "cuMemAlloc_v2"},
      {"cuMemAlloc", 2000, 0, "cuMemAlloc"},
      {"cuGetProcAddress", 11030, 0, "cuGetProcAddress"},
      {"cuGetProcAddress", 12000, 0, "cuGetProcAddress_v2"},
      {"cuLaunchKernel", 4000, 0, "cuLaunchKernel"},
      {"cuLaunchKernel", 7000, 2, "cuLaunchKernel_ptsz"},
      {"cuLaunchKernel", 13000, 1, "cuLaunchKernel"},
      {"cuMemAlloc", 13000, 2, "cuMemAlloc_v2"},
      {"cuMemcpyHtoD", 7000, 2, "cuMemcpyHtoD_v2_ptds"},
      {"cuCtxCreate", 11040, 0, "cuCtxCreate_v3"},
      {"cuGraphInstantiate", 11000, 0, "cuGraphInstantiate_v2"},
      {"cuGraphInstantiate", 12000, 0, "cuGraphInstantiateWithFlags"},
      {"cuGraphAddNode", 12030, 0, "cuGraphAddNode_v2"},
      {"cuCtxSynchronize", 13000, 0, "cuCtxSynchronize_v2"},
  };
  for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++) {
    void *got = ask(ROWS[i].name, ROWS[i].version, ROWS[i].flags, CU_GET_PROC_ADDRESS_SUCCESS);
    if (driver != NULL)
      CHECK(got == dlsym(self, ROWS[i].symbol), "%s at %d is not %s", ROWS[i].name, ROWS[i].version, ROWS[i].symbol);
  }
  CHECK(ask("cuNothing", 13000, 0, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND) == NULL, "a name that does not exist");
  CHECK(ask("cuMemCreate", 4000, 0, CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT) == NULL, "a version too old");
  /* Younger than this driver. */
  CHECK(ask("cuStreamBeginRecaptureToGraph", 13030, 0, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND) == NULL, "from CUDA 13.3");
}

static void a_child_is_not_initialised(void) {
  (void)fflush(NULL);
  pid_t pid = fork();
  if (pid == 0) {
    int before = check_failures, n = 0;
    CUcontext ctx = NULL;
    REFUSED(cuInit(0), CUDA_ERROR_NOT_INITIALIZED);
    REFUSED(cuDeviceGetCount(&n), CUDA_ERROR_NOT_INITIALIZED);
    REFUSED(cuCtxGetCurrent(&ctx), CUDA_ERROR_NOT_INITIALIZED);
    _exit(check_failures - before);
  }
  int status = -1;
  (void)waitpid(pid, &status, 0);
  CHECK_EQ(status, 0, "the child's refusals");
  CUdeviceptr p = 0;
  OK(cuMemAlloc_v2(&p, 1 << 20)); /* and the parent goes on */
  OK(cuMemFree_v2(p));
}

static void stubs_say_so(void) {
  unsigned long long calls = fakeCudaCalls("cuMemPoolImportFromShareableHandle");
  REFUSED(cuMemPoolImportFromShareableHandle(NULL, NULL, CU_MEM_HANDLE_TYPE_NONE, 0), CUDA_ERROR_NOT_SUPPORTED);
  CHECK_EQ(fakeCudaCalls("cuMemPoolImportFromShareableHandle"), calls + 1, "counted");
}

int main(void) {
  before_init();
  OK(cuInit(0));
  devices();
  contexts();
  lookups();
  a_child_is_not_initialised();
  stubs_say_so();
  return check_result();
}
