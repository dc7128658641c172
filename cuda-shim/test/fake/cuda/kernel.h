/* Code: kernels, which modules and libraries they come from, and how long they run. */
#ifndef VGPU_FAKE_KERNEL_H
#define VGPU_FAKE_KERNEL_H

#include "driver.h"

enum { MAGIC_FUNC = 0x46554E46, MAGIC_IMAGE = 0x494D4746, KERNEL_NAME = 64 };

/* A function and a kernel are one thing here, so that a kernel may be launched as a function, as it may. */
struct CUfunc_st {
  uint32_t magic;
  char name[KERNEL_NAME];
  uint64_t ns;
  int argument; /* the argument that says the length in ns instead, -1: none */
  struct image *image;
  struct CUfunc_st *next;
};

/* What a module or a library was made of. */
struct image {
  uint32_t magic;
  bool opaque; /* not our text: every name is in it */
  struct CUctx_st *ctx;
  struct CUfunc_st *functions;
  uint64_t charged; /* code on the card */
};

struct CUmod_st {
  struct image image;
};
struct CUlib_st {
  struct image image;
};

CUresult image_load(struct image *image, const void *text, struct CUctx_st *ctx);
void image_unload(struct image *image);
struct CUfunc_st *image_find(struct image *image, const char *name);

/* The length of a launch; false if `f` is no function. */
bool kernel_length(CUfunction f, void **params, void **extra, uint64_t *ns);

#endif
