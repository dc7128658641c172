/*
 * Images. Ours is a text of lines
 *
 *   vgpu-fake-kernel name=spin ns=740000 [argument=0]
 *   vgpu-fake-code bytes=1048576
 *
 * A kernel with argument=N runs as many nanoseconds as its argument N, 64 bits, says. Anything else (a cubin, a fatbin,
 * PTX) is taken as it is: whatever name is asked for is in it, and runs for FAKE_CUDA_KERNEL_NS.
 */
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "kernel.h"

static const char KERNEL[] = "vgpu-fake-kernel ", CODE[] = "vgpu-fake-code ";

static struct CUfunc_st *add(struct image *image, const char *name, uint64_t ns, int argument) {
  struct CUfunc_st *f = calloc(1, sizeof *f);
  if (f == NULL) return NULL;
  f->magic = MAGIC_FUNC;
  (void)snprintf(f->name, sizeof f->name, "%s", name);
  f->ns = ns;
  f->argument = argument;
  f->image = image;
  f->next = image->functions;
  image->functions = f;
  return f;
}

/* A number after KEY= in the line. */
static bool number(const char *line, const char *key, unsigned long long *out) {
  const char *at = strstr(line, key);
  return at != NULL && sscanf(at + strlen(key), "%llu", out) == 1;
}

static bool parse_line(struct image *image, const char *line) {
  char name[KERNEL_NAME];
  unsigned long long ns = 0, argument = 0, bytes = 0;
  if (line[strspn(line, " \t")] == '\0' || line[0] == '#') return true;
  if (strncmp(line, CODE, sizeof CODE - 1) == 0) {
    if (!number(line, "bytes=", &bytes)) return false;
    image->charged += device_round(bytes);
    return true;
  }
  const char *at = strstr(line, "name=");
  if (strncmp(line, KERNEL, sizeof KERNEL - 1) != 0 || at == NULL || sscanf(at, "name=%63s", name) != 1) return false;
  bool says = number(line, " argument=", &argument);
  if (!number(line, " ns=", &ns) && !says) return false;
  return add(image, name, ns, says && argument < 64 ? (int)argument : -1) != NULL;
}

static bool parse(struct image *image, const char *text) {
  char line[512];
  while (*text != '\0') {
    size_t n = strcspn(text, "\n");
    if (n >= sizeof line) return false;
    memcpy(line, text, n);
    line[n] = '\0';
    if (!parse_line(image, line)) return false;
    text += n + (text[n] == '\n' ? 1 : 0);
  }
  return true;
}

CUresult image_load(struct image *image, const void *text, struct CUctx_st *ctx) {
  if (text == NULL) return CUDA_ERROR_INVALID_VALUE;
  image->ctx = ctx;
  image->opaque = strncmp(text, KERNEL, sizeof KERNEL - 1) != 0 && strncmp(text, CODE, sizeof CODE - 1) != 0;
  if (!image->opaque && !parse(image, text)) return CUDA_ERROR_INVALID_IMAGE;
  CUdevice device = ctx == NULL ? 0 : ctx->device;
  if (image->charged > 0 && !device_take(device, image->charged)) {
    image->charged = 0;
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  image->magic = MAGIC_IMAGE;
  return CUDA_SUCCESS;
}

void image_unload(struct image *image) {
  while (image->functions != NULL) {
    struct CUfunc_st *f = image->functions;
    image->functions = f->next;
    f->magic = MAGIC_GONE;
    free(f);
  }
  device_give(image->ctx == NULL ? 0 : image->ctx->device, image->charged);
  image->magic = MAGIC_GONE;
}

struct CUfunc_st *image_find(struct image *image, const char *name) {
  (void)pthread_mutex_lock(&driver_lock);
  struct CUfunc_st *f = image->functions;
  while (f != NULL && strcmp(f->name, name) != 0) f = f->next;
  if (f == NULL && image->opaque) f = add(image, name, driver.default_kernel_ns, -1);
  (void)pthread_mutex_unlock(&driver_lock);
  return f;
}

/* ---- modules --------------------------------------------------------------------------------------------------------- */

static CUresult load_module(CUmodule *module, const void *text) {
  struct CUctx_st *ctx = context_current();
  if (ctx == NULL) return CUDA_ERROR_INVALID_CONTEXT;
  if (module == NULL) return CUDA_ERROR_INVALID_VALUE;
  struct CUmod_st *m = calloc(1, sizeof *m);
  if (m == NULL) return CUDA_ERROR_OUT_OF_MEMORY;
  CUresult result = image_load(&m->image, text, ctx);
  if (result == CUDA_SUCCESS) {
    *module = m;
  } else {
    image_unload(&m->image);
    free(m);
  }
  return result;
}

CUresult cuModuleLoadData(CUmodule *module, const void *image);
CUresult cuModuleLoadData(CUmodule *module, const void *image) {
  ENTER;
  return load_module(module, image);
}

CUresult cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned int count, int *options, void **values);
CUresult cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned int count, int *options, void **values) {
  ENTER;
  (void)count;
  (void)options;
  (void)values;
  return load_module(module, image);
}

CUresult cuModuleLoadFatBinary(CUmodule *module, const void *image);
CUresult cuModuleLoadFatBinary(CUmodule *module, const void *image) {
  ENTER;
  return load_module(module, image);
}

CUresult cuModuleLoad(CUmodule *module, const char *path);
CUresult cuModuleLoad(CUmodule *module, const char *path) {
  ENTER;
  enum { MOST = 1 << 16 };
  if (path == NULL) return CUDA_ERROR_INVALID_VALUE;
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return CUDA_ERROR_FILE_NOT_FOUND;
  char *text = calloc(1, MOST + 1);
  ssize_t n = text == NULL ? -1 : read(fd, text, MOST);
  (void)close(fd);
  CUresult result = n < 0 ? CUDA_ERROR_OPERATING_SYSTEM : load_module(module, text);
  free(text);
  return result;
}

CUresult cuModuleUnload(CUmodule module);
CUresult cuModuleUnload(CUmodule module) {
  ENTER;
  if (module == NULL || module->image.magic != MAGIC_IMAGE) return CUDA_ERROR_INVALID_HANDLE;
  image_unload(&module->image);
  free(module);
  return CUDA_SUCCESS;
}

CUresult cuModuleGetFunction(CUfunction *f, CUmodule module, const char *name);
CUresult cuModuleGetFunction(CUfunction *f, CUmodule module, const char *name) {
  ENTER;
  if (f == NULL || name == NULL) return CUDA_ERROR_INVALID_VALUE;
  if (module == NULL || module->image.magic != MAGIC_IMAGE) return CUDA_ERROR_INVALID_HANDLE;
  *f = image_find(&module->image, name);
  return *f == NULL ? CUDA_ERROR_NOT_FOUND : CUDA_SUCCESS;
}

CUresult cuModuleGetLoadingMode(int *mode);
CUresult cuModuleGetLoadingMode(int *mode) {
  ENTER;
  if (mode == NULL) return CUDA_ERROR_INVALID_VALUE;
  *mode = 2; /* lazy */
  return CUDA_SUCCESS;
}
