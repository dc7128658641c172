/*
 * What the library adds around CUDA, in programs that never use it: a look-up of a name that is not the driver's, and the start of a
 * process. Needs no GPU and no driver. JSON.
 *   LD_PRELOAD=LIBRARY bench-around dlsym        bench-around start LIBRARY
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "gpu.h"
#include "paired.h"

enum { LOOKUPS = 2000, LOOKUP_PAIRS = 400, START_PAIRS = 400 };

typedef void *lookup(void *handle, const char *name);

struct lookups {
  lookup *with;
  lookup *without;
  void *object;
};

static double lookup_ns(void *self, bool with) {
  const struct lookups *l = self;
  lookup *look = with ? l->with : l->without;
  int64_t from = now_ns();
  for (int i = 0; i < LOOKUPS; i++) {
    if (look(l->object, "getpid") == NULL) {
      exit(1);
    }
  }
  return (double)(now_ns() - from) / LOOKUPS;
}

static double start_ns(void *self, bool with) {
  char *arguments[] = {"/bin/true", NULL};
  char *plain[] = {NULL};
  char *preloaded[] = {self, NULL};
  pid_t child;
  int status;
  int64_t from = now_ns();
  if (posix_spawn(&child, arguments[0], NULL, NULL, arguments, with ? preloaded : plain) != 0 ||
      waitpid(child, &status, 0) != child || status != 0) {
    fprintf(stderr, "/bin/true did not run\n");
    exit(1);
  }
  return (double)(now_ns() - from);
}

static void print(const char *name, struct paired result, const char *owner) {
  printf("{\"%s\": {", name);
  paired_print(&result);
  printf(", \"owner\": \"%s\"}}\n", owner);
}

int main(int argc, char **argv) {
  if (argc == 2 && strcmp(argv[1], "dlsym") == 0) {
    struct lookups l = {NULL, NULL, dlopen("libc.so.6", RTLD_NOW)};
    /* the first in the order of objects, as a program's own call is bound; and libc's */
    *(void **)&l.with = symbol_of("libvgpu-control.so", "dlsym");
    *(void **)&l.without = symbol_of("libc.so", "dlsym");
    if (l.with == NULL || l.without == NULL || l.object == NULL) {
      fprintf(stderr, "LD_PRELOAD: must name libvgpu-control.so\n");
      return 2;
    }
    print("dlsym_foreign", paired_measure(lookup_ns, &l, LOOKUP_PAIRS), owner_of(*(void *const *)&l.with));
    return 0;
  }
  if (argc == 3 && strcmp(argv[1], "start") == 0) {
    char variable[4096];
    int n = snprintf(variable, sizeof variable, "LD_PRELOAD=%s", argv[2]);
    if (n < 0 || (size_t)n >= sizeof variable) {
      return 2;
    }
    print("process_start", paired_measure(start_ns, variable, START_PAIRS), argv[2]);
    return 0;
  }
  fprintf(stderr, "usage: bench-around dlsym | bench-around start LIBRARY\n");
  return 2;
}
