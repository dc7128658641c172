/* Strings without libc: bounded, no locale, nothing allocated. */
#ifndef VGPU_TEXT_H
#define VGPU_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static inline bool text_equal(const char *a, const char *b) {
  while (*a != '\0' && *a == *b) a++, b++;
  return *a == *b;
}
static inline size_t text_length(const char *s) {
  size_t n = 0;
  while (s[n] != '\0') n++;
  return n;
}
/* Null unless `s` begins with `prefix`, else what follows. */
static inline const char *text_after(const char *s, const char *prefix) {
  while (*prefix != '\0' && *s == *prefix) s++, prefix++;
  return *prefix == '\0' ? s : NULL;
}
/* Appends to a buffer of `size` with a NUL at the end; cuts what does not fit. */
static inline void text_append(char *to, size_t size, const char *from) {
  size_t n = text_length(to);
  while (n + 1 < size && *from != '\0') to[n++] = *from++;
  to[n] = '\0';
}
static inline void text_append_number(char *to, size_t size, uint64_t value) {
  char digits[21];
  size_t n = sizeof digits - 1;
  digits[n] = '\0';
  do digits[--n] = (char)('0' + value % 10);
  while ((value /= 10) != 0);
  text_append(to, size, digits + n);
}

/* A variable of the program's environment, or null. */
const char *text_environment(const char *name);

#endif
