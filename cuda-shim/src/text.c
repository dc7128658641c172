/* What the compiler calls by itself, and the environment. */
#include "text.h"

/* gcc makes calls of these from assignments and loops; hidden, so that nobody else's are used and nobody uses ours. */
void *memcpy(void *restrict to, const void *restrict from, size_t n);
void *memmove(void *to, const void *from, size_t n);
void *memset(void *to, int value, size_t n);
int memcmp(const void *a, const void *b, size_t n);

void *memcpy(void *restrict to, const void *restrict from, size_t n) {
  char *t = to;
  const char *f = from;
  for (size_t i = 0; i < n; i++) t[i] = f[i];
  return to;
}

void *memmove(void *to, const void *from, size_t n) {
  char *t = to;
  const char *f = from;
  if (t < f) return memcpy(to, from, n);
  while (n-- > 0) t[n] = f[n];
  return to;
}

void *memset(void *to, int value, size_t n) {
  char *t = to;
  for (size_t i = 0; i < n; i++) t[i] = (char)value;
  return to;
}

int memcmp(const void *a, const void *b, size_t n) {
  const unsigned char *x = a, *y = b;
  for (size_t i = 0; i < n; i++) {
    if (x[i] != y[i]) return x[i] - y[i];
  }
  return 0;
}
