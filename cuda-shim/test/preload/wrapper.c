/* A library that wraps a function of libc, as allocators and tracers do: through RTLD_NEXT, which depends on who asks. */
#include <dlfcn.h>
#include <stddef.h>

long a64l(const char *text);
long a64l(const char *text) {
  long (*next)(const char *);
  *(void **)&next = dlsym(RTLD_NEXT, "a64l");
  if (next == NULL || next == a64l) return -1;
  return next(text) + 1000;
}
