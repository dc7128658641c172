#define _GNU_SOURCE /* dladdr */
#include "profile_file.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool fake_profile_path(const void *symbol, char *out, size_t bytes) {
  const char *env = getenv("FAKE_GPUS");
  if (env != NULL && *env != '\0') return (size_t)snprintf(out, bytes, "%s", env) < bytes;
  Dl_info info;
  if (dladdr(symbol, &info) == 0 || info.dli_fname == NULL) return false;
  const char *slash = strrchr(info.dli_fname, '/');
  int n = slash == NULL ? 0 : (int)(slash - info.dli_fname + 1);
  return (size_t)snprintf(out, bytes, "%.*sfake.gpus", n, info.dli_fname) < bytes;
}

/* The whole file, or null with a reason. */
static char *read_file(const char *path, size_t *length, const char **why) {
  FILE *file = fopen(path, "re");
  if (file == NULL) {
    *why = strerror(errno);
    return NULL;
  }
  char *text = malloc(FAKE_FILE_BYTES + 1);
  if (text != NULL) *length = fread(text, 1, FAKE_FILE_BYTES + 1, file);
  *why = text == NULL ? "no memory" : ferror(file) ? "cannot be read" : *length > FAKE_FILE_BYTES ? "longer than 1 MiB" : NULL;
  (void)fclose(file);
  if (*why == NULL) return text;
  free(text);
  return NULL;
}

bool fake_profile_load(struct fake_profile *p, const char *path) {
  char error[FAKE_ERROR_BYTES];
  size_t length = 0;
  const char *why = NULL;
  char *text = read_file(path, &length, &why);
  if (text == NULL) {
    (void)fprintf(stderr, "FAKE_GPUS: %s: %s\n", path, why);
    return true;
  }
  bool failed = fake_profile_parse(p, text, length, error);
  free(text);
  if (failed) (void)fprintf(stderr, "FAKE_GPUS: %s:%s\n", path, error);
  return failed;
}
