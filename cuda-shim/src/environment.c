/* The environment as the program has it now: it may have set our variables itself, before it uses CUDA. */
#include "text.h"

/* libc's, one of the two names that we need of it */
extern char **__environ __attribute__((visibility("default")));

const char *text_environment(const char *name) {
  if (__environ == NULL) return NULL;
  for (char **entry = __environ; *entry != NULL; entry++) {
    const char *rest = text_after(*entry, name);
    if (rest != NULL && *rest == '=') return rest + 1;
  }
  return NULL;
}
