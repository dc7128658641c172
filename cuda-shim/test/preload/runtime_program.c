/*
 * NVIDIA's own CUDA runtime, started on the driver: every function that it has got itself through cuGetProcAddress and that
 * is in our list must be ours.   runtime_program LIBCUDART
 * The runtime keeps the addresses in its own data, so that is where they are looked for.
 */
#include <dlfcn.h>
#include <link.h>
#include <stdint.h>

#include "../unit/check.h"

static const char *const hooked[] = {
#define CU(name, base, since, flavor, class, params, args) #name,
#include "hooks.def"
};

static int ours, theirs;

static const char *file_of(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash != NULL ? slash + 1 : path;
}

static void look_at(void *value) {
  Dl_info info;
  if (value == NULL || dladdr(value, &info) == 0 || info.dli_saddr != value || info.dli_sname == NULL) return;
  if (strcmp(file_of(info.dli_fname), "libvgpu-control.so") == 0) ours++;
  if (strcmp(file_of(info.dli_fname), "libcuda.so.1") != 0) return;
  theirs++;
  for (size_t i = 0; i < sizeof hooked / sizeof hooked[0]; i++) {
    CHECK(strcmp(info.dli_sname, hooked[i]) != 0, "the runtime has the driver's own %s", hooked[i]);
  }
}

static int visit(struct dl_phdr_info *object, size_t size, void *name) {
  (void)size;
  if (strstr(object->dlpi_name, name) == NULL) return 0;
  for (int i = 0; i < object->dlpi_phnum; i++) {
    const ElfW(Phdr) *p = &object->dlpi_phdr[i];
    if (p->p_type != PT_LOAD || (p->p_flags & PF_W) == 0) continue;
    void *const *at = (void *const *)(object->dlpi_addr + (p->p_vaddr + 7) / 8 * 8);
    for (size_t k = 0; k < p->p_memsz / 8; k++) look_at(at[k]);
  }
  return 1;
}

int main(int argc, char **argv) {
  if (argc != 2) return 2;
  void *runtime = dlopen(argv[1], RTLD_NOW);
  CHECK(runtime != NULL, "%s", dlerror());
  if (runtime == NULL) return check_result();
  int (*info)(size_t *, size_t *);
  *(void **)&info = dlsym(runtime, "cudaMemGetInfo");
  size_t available, total;
  /* on a fake without the private tables it gives up, but after it has looked everything up */
  int result = info(&available, &total);
  (void)dl_iterate_phdr(visit, (void *)(uintptr_t) "libcudart");
  CHECK(ours >= 40, "only %d addresses of ours: this shows nothing", ours);
  CHECK(theirs >= 40, "only %d of the driver's: this shows nothing", theirs);
  (void)printf("%s: %d ours, %d the driver's, first call answered %d\n", file_of(argv[1]), ours, theirs, result);
  return check_result();
}
