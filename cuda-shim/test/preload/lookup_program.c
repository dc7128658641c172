/*
 * Every way to the driver, taken as programs take it, with the library preloaded.   lookup_program PROFILER_LIBRARY
 * PROFILER_LIBRARY defines cuMemAlloc_v2 itself, as tools do.
 */
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdlib.h>

#include "../unit/check.h"
#include "cuda_types.h"
#include "nvml_view_types.h"

#define OURS "libvgpu-control.so"

static const char *owner(void *address) {
  Dl_info info;
  if (address == NULL || dladdr(address, &info) == 0) return "nobody";
  const char *slash = strrchr(info.dli_fname, '/');
  return slash != NULL ? slash + 1 : info.dli_fname;
}

static const struct row {
  const char *name, *base;
  int since;
  cuuint64_t flag;
} rows[] = {
#define NONE 0
#define LEGACY 1
#define THREAD 2
#define CU(name, base, since, flavor, class, params, args) {#name, #base, since, flavor},
#include "hooks.def"
};
enum { ROWS = sizeof rows / sizeof rows[0] };

static void *driver;
static CUresult (*by_version)(const char *, void **, int, cuuint64_t, CUdriverProcAddressQueryResult *);

static void *look_up_at_once(void *unused) {
  (void)unused;
  return dlsym(driver, "cuLaunchKernel");
}

static void before_the_driver_is_loaded_nothing_of_it_is_found(void) {
  CHECK(dlsym(RTLD_DEFAULT, "cuInit") == NULL, "%s", owner(dlsym(RTLD_DEFAULT, "cuInit")));
  CHECK(dlsym(RTLD_NEXT, "cuInit") == NULL, "%s", owner(dlsym(RTLD_NEXT, "cuInit")));
  void *everything = dlopen(NULL, RTLD_NOW);
  CHECK(dlsym(everything, "cuMemAlloc_v2") == NULL, "%s", owner(dlsym(everything, "cuMemAlloc_v2")));
  CHECK(dlsym(RTLD_DEFAULT, "nvmlDeviceGetMemoryInfo") == NULL, "found");
}

static void threads_that_ask_first_get_the_same(void) {
  pthread_t threads[16];
  driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  CHECK(driver != NULL, "%s", dlerror());
  for (int i = 0; i < 16; i++) {
    if (pthread_create(&threads[i], NULL, look_up_at_once, NULL) != 0) abort();
  }
  for (int i = 0; i < 16; i++) {
    void *found;
    (void)pthread_join(threads[i], &found);
    CHECK(strcmp(owner(found), OURS) == 0, "%s", owner(found));
  }
}

static void what_is_in_the_list_is_ours_and_the_rest_is_the_drivers(void) {
  for (int i = 0; i < ROWS; i++) {
    void *found = dlsym(driver, rows[i].name);
    CHECK(strcmp(owner(found), OURS) == 0, "%s: %s", rows[i].name, owner(found));
  }
#define PASS(name, reason)                                                        \
  if (#name[0] == 'c' && dlsym(driver, #name) != NULL) {                          \
    CHECK(strcmp(owner(dlsym(driver, #name)), "libcuda.so.1") == 0, "%s", #name); \
  }
#include "hooks.def"
  CHECK(dlsym(driver, "cuNoSuchFunction") == NULL, "found");
  CHECK(dlsym(driver, "cuGetExportTable") == NULL || strcmp(owner(dlsym(driver, "cuGetExportTable")), OURS) != 0, "wrapped");
}

static void a_lookup_by_version_leads_to_us(void) {
  *(void **)&by_version = dlsym(driver, "cuGetProcAddress_v2");
  CHECK(strcmp(owner(*(void **)&by_version), OURS) == 0, "ours");
  for (int i = 0; i < ROWS; i++) {
    void *found = NULL;
    CUdriverProcAddressQueryResult status;
    CUresult result = by_version(rows[i].base, &found, rows[i].since, rows[i].flag, &status);
    CHECK_EQ(result, CUDA_SUCCESS, rows[i].name);
    if (found != NULL) CHECK(strcmp(owner(found), OURS) == 0, "%s %d: %s", rows[i].base, rows[i].since, owner(found));
  }
  void *legacy = NULL, *thread = NULL, *four = NULL, *five = NULL;
  CHECK_EQ(by_version("cuLaunchKernel", &legacy, 12000, 0, NULL), CUDA_SUCCESS, "no status asked for");
  CHECK_EQ(by_version("cuLaunchKernel", &thread, 12000, 2, NULL), CUDA_SUCCESS, "per thread");
  CHECK(legacy == dlsym(driver, "cuLaunchKernel"), "the same as by name");
  CHECK(thread == dlsym(driver, "cuLaunchKernel_ptsz"), "the stream's flavor is kept");
  CHECK_EQ(by_version("cuGetProcAddress", &four, 11030, 0, NULL), CUDA_SUCCESS, "itself, of four arguments");
  CHECK_EQ(by_version("cuGetProcAddress", &five, 12000, 0, NULL), CUDA_SUCCESS, "itself, of five");
  CHECK(four == dlsym(driver, "cuGetProcAddress") && five == dlsym(driver, "cuGetProcAddress_v2"), "told apart");
}

/* The runtime's first question has no name, no version and no place for a status. */
static void odd_questions_are_the_drivers_to_answer(void) {
  void *found = NULL;
  (void)by_version("", &found, 0, 0, NULL);
  (void)by_version("cuInit", NULL, 12000, 0, NULL);
  CHECK_EQ(by_version("cuInit", &found, 12000, 0xFF00, NULL) == CUDA_SUCCESS, found != NULL, "unknown flags");
  found = (void *)1;
  CUdriverProcAddressQueryResult status = CU_GET_PROC_ADDRESS_SUCCESS;
  (void)by_version("cuNoSuchFunction", &found, 12000, 0, &status);
  CHECK(found == NULL || found == (void *)1, "%p", found);
  CHECK_EQ(status, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND, "status");
}

static void searches_through_everything_find_us_only_with_the_driver(void) {
  CHECK(strcmp(owner(dlsym(RTLD_NEXT, "cuInit")), OURS) == 0, "%s", owner(dlsym(RTLD_NEXT, "cuInit")));
  CHECK(strcmp(owner(dlsym(RTLD_NEXT, "cuInit")), OURS) == 0, "the second time too");
  CHECK(strcmp(owner(dlsym(RTLD_DEFAULT, "cuMemFree_v2")), OURS) == 0, "default");
  CHECK(dlsym(RTLD_DEFAULT, "cuNoSuchFunction") == NULL, "found");
}

static void others_keep_their_own(const char *profiler) {
  void *other = dlopen(profiler, RTLD_NOW | RTLD_LOCAL);
  CHECK(other != NULL, "%s", dlerror());
  CHECK(strcmp(owner(dlsym(other, "cuMemAlloc_v2")), OURS) != 0, "a profiler's function of that name is the profiler's");
  void *again = dlmopen(LM_ID_NEWLM, "libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  CHECK(again != NULL, "%s", dlerror());
  if (again != NULL) CHECK(strcmp(owner(dlsym(again, "cuInit")), OURS) != 0, "another name space has another driver");
  void *libc = dlopen("libc.so.6", RTLD_NOW);
  CHECK(dlsym(libc, "malloc") == (void *)malloc, "malloc");
  CHECK(dlsym(RTLD_DEFAULT, "cudaMalloc") == NULL && dlsym(RTLD_DEFAULT, "cuobjclient") == NULL, "not ours to know");
  CHECK(dlsym(RTLD_DEFAULT, "dlsym") != NULL, "itself");
}

static void lookups_with_a_version_work(void) {
  void *libc = dlopen("libc.so.6", RTLD_NOW);
#if defined(__x86_64__)
  CHECK(dlvsym(libc, "malloc", "GLIBC_2.2.5") == (void *)malloc, "malloc");
#else
  CHECK(dlvsym(libc, "malloc", "GLIBC_2.17") == (void *)malloc, "malloc");
#endif
  CHECK(dlvsym(libc, "malloc", "GLIBC_9.9") == NULL, "no such version");
  CHECK(dlvsym(driver, "cuInit", "NO_SUCH") == NULL || strcmp(owner(dlvsym(driver, "cuInit", "NO_SUCH")), OURS) == 0, "driver");
}

int main(int argc, char **argv) {
  if (argc != 2) return 2;
  before_the_driver_is_loaded_nothing_of_it_is_found();
  threads_that_ask_first_get_the_same();
  what_is_in_the_list_is_ours_and_the_rest_is_the_drivers();
  a_lookup_by_version_leads_to_us();
  odd_questions_are_the_drivers_to_answer();
  searches_through_everything_find_us_only_with_the_driver();
  others_keep_their_own(argv[1]);
  lookups_with_a_version_work();
  return check_result();
}
