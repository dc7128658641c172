/* The least that a test program needs: checks that say where they failed and go on, and a count at the end. */
#ifndef VGPU_TEST_CHECK_H
#define VGPU_TEST_CHECK_H

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

static atomic_int check_failures;
static atomic_int check_count;

#define CHECK(cond, ...)                                               \
  do {                                                                 \
    check_count++;                                                     \
    if (!(cond)) {                                                     \
      check_failures++;                                                \
      (void)fprintf(stderr, "%s:%d: %s: ", __FILE__, __LINE__, #cond); \
      (void)fprintf(stderr, __VA_ARGS__);                              \
      (void)fputc('\n', stderr);                                       \
    }                                                                  \
  } while (0)

#define CHECK_EQ(actual, expected, what)                                              \
  do {                                                                                \
    long long check_a = (long long)(actual), check_e = (long long)(expected);         \
    CHECK(check_a == check_e, "%s: got %lld, expected %lld", what, check_a, check_e); \
  } while (0)

/* The exit status of main; a program that checked nothing fails. */
static inline int check_result(void) {
  (void)printf("%d checks, %d failed\n", check_count, check_failures);
  return check_failures == 0 && check_count > 0 ? 0 : 1;
}

#endif
