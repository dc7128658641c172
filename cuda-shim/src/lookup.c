/*
 * What dlsym and dlvsym answer. The entry stubs (entry_*.S) jump to the loader's own function with the caller's registers
 * and return address where we have nothing to say, because the loader works out from the return address who asks: through
 * an ordinary wrapper RTLD_NEXT would mean "after us" for everybody.
 */
#include "driver.h"
#include "loader.h"

struct vgpu_answer {
  void *address;
  unsigned long jump; /* 1: go on there, 0: this is the result */
};

struct vgpu_answer vgpu_answer_dlsym(void *handle, const char *name);
struct vgpu_answer vgpu_answer_dlvsym(void *handle, const char *name, const char *version);

static bool upper(char c) { return c >= 'A' && c <= 'Z'; }

/* The first, cheapest test: nearly every look-up of a process ends here. */
static bool of_driver(const char *n) {
  if (n == NULL) return false;
  if (n[0] == 'c') return n[1] == 'u' && upper(n[2]);
  return n[0] == 'n' && n[1] == 'v' && n[2] == 'm' && n[3] == 'l' && upper(n[4]);
}

/* `found`: what the loader says for the handle. */
static void *ours_for(const char *name, void *found) {
  if (found == NULL) return NULL; /* a program that tests for a function must see that it is missing */
  if (name[0] == 'c') {
    (void)vgpu_cuda(false);
  } else {
    (void)vgpu_nvml(false);
  }
  return vgpu_entry_for(found); /* not by name: another library's function of that name stays what it is */
}

/* A search through all objects meets our own definitions first; whether the driver has the function is what counts. */
static void *in_global_scope(const char *name, void *entry, bool present) {
  return present ? entry : vgpu_loader()->symbol(VGPU_RTLD_NEXT, name);
}

static struct vgpu_answer answer(void *handle, const char *name, const char *version, void *real) {
  struct vgpu_answer go_on = {real, 1};
  if (!of_driver(name) || real == NULL) return real == NULL ? (struct vgpu_answer){NULL, 0} : go_on;
  bool present;
  void *entry;
  if (handle == VGPU_RTLD_NEXT || handle == VGPU_RTLD_DEFAULT) {
    if (!vgpu_hooked_name(name, &present, &entry)) return go_on;
    return (struct vgpu_answer){in_global_scope(name, entry, present), 0};
  }
  const struct vgpu_loader *loader = vgpu_loader();
  void *found = version == NULL ? loader->symbol(handle, name) : loader->versioned(handle, name, version);
  if (found != NULL && vgpu_hooked_name(name, &present, &entry) && found == entry) {
    return (struct vgpu_answer){in_global_scope(name, entry, present), 0};
  }
  return (struct vgpu_answer){ours_for(name, found), 0};
}

struct vgpu_answer vgpu_answer_dlsym(void *handle, const char *name) {
  return answer(handle, name, NULL, (void *)vgpu_loader()->symbol);
}

struct vgpu_answer vgpu_answer_dlvsym(void *handle, const char *name, const char *version) {
  return answer(handle, name, version == NULL ? "" : version, (void *)vgpu_loader()->versioned);
}
