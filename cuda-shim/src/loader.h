/*
 * glibc's own dlopen, dlsym and dlvsym. We define the last two ourselves, and a reference to a name that one defines binds
 * to oneself, whatever version it asks for: so they are looked up in the loaded libc by hand.
 */
#ifndef VGPU_LOADER_H
#define VGPU_LOADER_H

struct vgpu_loader {
  void *(*open)(const char *name, int flags);
  void *(*symbol)(void *handle, const char *name);
  void *(*versioned)(void *handle, const char *name, const char *version);
};

enum { VGPU_RTLD_NOW = 2, VGPU_RTLD_NOLOAD = 4, VGPU_RTLD_NODELETE = 0x1000 };
#define VGPU_RTLD_DEFAULT ((void *)0)
#define VGPU_RTLD_NEXT ((void *)-1L)

/* Functions that are not there are null; then there is nobody who could have called them either. Any thread. */
const struct vgpu_loader *vgpu_loader(void);

#endif
