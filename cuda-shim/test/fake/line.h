/*
 * One line of a profile: words before the first key=value pair, then pairs. Each value is taken once, with its type and
 * bounds; the first thing wrong is remembered and everything after it is a no-op, so that callers need no branches.
 */
#ifndef VGPU_FAKE_LINE_H
#define VGPU_FAKE_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { LINE_WORDS = 4, LINE_PAIRS = 24, LINE_BYTES = 1024 };

struct line {
  char text[LINE_BYTES];
  int words;
  char *word[LINE_WORDS]; /* word[0] is the directive */
  int pairs;
  char *key[LINE_PAIRS];
  char *value[LINE_PAIRS];
  bool taken[LINE_PAIRS];
  bool failed;
  char *error; /* of error_bytes */
  size_t error_bytes;
};

/* Splits the text; an empty line or a comment has no words. */
void line_split(struct line *l, const char *text, size_t length, char *error, size_t error_bytes);

/* Remembers an error if there is none yet. */
void line_fail(struct line *l, const char *field, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* A value, or null if it is absent (an error when it is required). */
const char *line_text(struct line *l, const char *key, bool required);

/* Copies a value of 1 to bytes-1 characters; absent: an error. */
void line_copy(struct line *l, const char *key, char *out, size_t bytes);

/* Numbers within bounds; absent: the default. */
uint64_t line_number(struct line *l, const char *key, uint64_t min, uint64_t max, uint64_t absent);
/* Bytes, or with KiB, MiB, GiB. */
uint64_t line_bytes(struct line *l, const char *key, uint64_t max, uint64_t absent);
/* Seconds with up to nine decimals, as nanoseconds. */
uint64_t line_seconds(struct line *l, const char *key, uint64_t absent);
/* Position of the value in a list of names that ends with null; absent: the default. */
int line_choice(struct line *l, const char *key, const char *const *names, int absent);

/* A word as a number below `bound`. */
int line_index(struct line *l, int word, const char *what, int bound);

/* An error if a pair was not taken or the number of words is another. */
void line_end(struct line *l, int words);

/* Decimal or 0x…; false if it is not a number or does not fit. */
bool line_parse_number(const char *text, uint64_t *out);
/* Decimal seconds to nanoseconds; false if it is not a time. */
bool line_parse_seconds(const char *text, uint64_t *out);

#endif
