#include "line.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const uint64_t MAX_SECONDS = 1000000000u;

void line_fail(struct line *l, const char *field, const char *format, ...) {
  if (l->failed) return;
  l->failed = true;
  int n = snprintf(l->error, l->error_bytes, "%s: ", field);
  if (n < 0 || (size_t)n >= l->error_bytes) return;
  va_list args;
  va_start(args, format);
  (void)vsnprintf(l->error + n, l->error_bytes - (size_t)n, format, args);
  va_end(args);
}

static bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r'; }

/* Ends the token that starts at s, takes quotes out of it; returns what follows. */
static char *take_token(struct line *l, char *s) {
  char *out = s;
  bool quoted = false;
  while (*s != '\0' && (quoted || !is_space(*s))) {
    if (*s == '"') {
      quoted = !quoted;
    } else {
      *out++ = *s;
    }
    s++;
  }
  if (quoted) line_fail(l, "line", "a quote is not closed");
  bool more = *s != '\0';
  *out = '\0';
  return more ? s + 1 : s;
}

static void add_token(struct line *l, char *token) {
  char *equals = strchr(token, '=');
  if (equals == NULL) {
    if (l->pairs > 0) {
      line_fail(l, "line", "\"%.60s\" is not key=value", token);
    } else if (l->words == LINE_WORDS) {
      line_fail(l, "line", "too many words before the first key=value");
    } else {
      l->word[l->words++] = token;
    }
    return;
  }
  *equals = '\0';
  for (int i = 0; i < l->pairs; i++) {
    if (strcmp(l->key[i], token) == 0) line_fail(l, token, "given twice");
  }
  if (l->pairs == LINE_PAIRS) {
    line_fail(l, "line", "more than %d fields", (int)LINE_PAIRS);
    return;
  }
  l->key[l->pairs] = token;
  l->value[l->pairs] = equals + 1;
  l->pairs++;
}

void line_split(struct line *l, const char *text, size_t length, char *error, size_t error_bytes) {
  memset(l, 0, sizeof *l);
  l->error = error;
  l->error_bytes = error_bytes;
  if (length >= sizeof l->text) {
    line_fail(l, "line", "longer than %d characters", (int)sizeof l->text - 1);
    return;
  }
  if (memchr(text, '\0', length) != NULL) {
    line_fail(l, "line", "contains a NUL character");
    return;
  }
  memcpy(l->text, text, length);
  char *s = l->text;
  while (!l->failed) {
    while (is_space(*s)) s++;
    if (*s == '\0' || *s == '#') return;
    char *token = s;
    s = take_token(l, s);
    add_token(l, token);
    if (l->words == 0) line_fail(l, "line", "does not begin with a word");
  }
}

const char *line_text(struct line *l, const char *key, bool required) {
  for (int i = 0; i < l->pairs; i++) {
    if (strcmp(l->key[i], key) == 0) {
      l->taken[i] = true;
      return l->value[i];
    }
  }
  if (required) line_fail(l, key, "missing");
  return NULL;
}

void line_copy(struct line *l, const char *key, char *out, size_t bytes) {
  const char *value = line_text(l, key, true);
  if (value == NULL || l->failed) return;
  size_t n = strlen(value);
  if (n == 0 || n >= bytes) {
    line_fail(l, key, "has %zu characters, allowed are 1 to %zu", n, bytes - 1);
    return;
  }
  memcpy(out, value, n + 1);
}

bool line_parse_number(const char *text, uint64_t *out) {
  unsigned base = 10;
  if (text[0] == '0' && text[1] == 'x') {
    base = 16;
    text += 2;
  }
  if (*text == '\0') return false;
  uint64_t value = 0;
  for (; *text != '\0'; text++) {
    unsigned digit;
    if (*text >= '0' && *text <= '9') {
      digit = (unsigned)(*text - '0');
    } else if (base == 16 && *text >= 'a' && *text <= 'f') {
      digit = (unsigned)(*text - 'a') + 10u;
    } else if (base == 16 && *text >= 'A' && *text <= 'F') {
      digit = (unsigned)(*text - 'A') + 10u;
    } else {
      return false;
    }
    if (__builtin_mul_overflow(value, base, &value) || __builtin_add_overflow(value, digit, &value)) return false;
  }
  *out = value;
  return true;
}

static void check_bounds(struct line *l, const char *key, const char *text, uint64_t value, uint64_t min, uint64_t max) {
  if (value < min || value > max) {
    line_fail(l, key, "%s is not between %llu and %llu", text, (unsigned long long)min, (unsigned long long)max);
  }
}

uint64_t line_number(struct line *l, const char *key, uint64_t min, uint64_t max, uint64_t absent) {
  const char *text = line_text(l, key, false);
  if (text == NULL) return absent;
  uint64_t value = 0;
  if (!line_parse_number(text, &value)) {
    line_fail(l, key, "\"%.60s\" is not a number", text);
    return absent;
  }
  check_bounds(l, key, text, value, min, max);
  return l->failed ? absent : value;
}

uint64_t line_bytes(struct line *l, const char *key, uint64_t max, uint64_t absent) {
  static const struct {
    const char *suffix;
    unsigned shift;
  } units[] = {{"KiB", 10}, {"MiB", 20}, {"GiB", 30}};
  const char *text = line_text(l, key, false);
  if (text == NULL) return absent;
  char digits[32];
  size_t n = strlen(text);
  unsigned shift = 0;
  for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
    if (n > 3 && strcmp(text + n - 3, units[i].suffix) == 0) shift = units[i].shift;
  }
  size_t kept = shift != 0 ? n - 3 : n;
  uint64_t value = 0;
  if (kept >= sizeof digits) {
    line_fail(l, key, "\"%.60s\" is not a size", text);
    return absent;
  }
  memcpy(digits, text, kept);
  digits[kept] = '\0';
  if (!line_parse_number(digits, &value) || value > (UINT64_MAX >> shift)) {
    line_fail(l, key, "\"%.60s\" is not a size (bytes, or a number with KiB, MiB, GiB)", text);
    return absent;
  }
  value <<= shift;
  check_bounds(l, key, text, value, 0, max);
  return l->failed ? absent : value;
}

bool line_parse_seconds(const char *text, uint64_t *out) {
  char whole[16];
  const char *dot = strchr(text, '.');
  size_t n = dot != NULL ? (size_t)(dot - text) : strlen(text);
  if (n == 0 || n >= sizeof whole) return false;
  memcpy(whole, text, n);
  whole[n] = '\0';
  uint64_t seconds = 0;
  if (whole[0] == '0' && whole[1] == 'x') return false;
  if (!line_parse_number(whole, &seconds) || seconds > MAX_SECONDS) return false;
  uint64_t nanos = 0;
  if (dot != NULL) {
    uint64_t unit = 100000000u;
    if (dot[1] == '\0') return false;
    for (const char *s = dot + 1; *s != '\0'; s++, unit /= 10) {
      if (*s < '0' || *s > '9' || unit == 0) return false;
      nanos += unit * (uint64_t)(*s - '0');
    }
  }
  *out = seconds * 1000000000u + nanos;
  return true;
}

uint64_t line_seconds(struct line *l, const char *key, uint64_t absent) {
  const char *text = line_text(l, key, false);
  if (text == NULL) return absent;
  uint64_t value = 0;
  if (!line_parse_seconds(text, &value)) {
    line_fail(l, key, "\"%.60s\" is not a time in seconds (at most nine decimals, at most 1000000000)", text);
    return absent;
  }
  return value;
}

int line_choice(struct line *l, const char *key, const char *const *names, int absent) {
  const char *text = line_text(l, key, false);
  if (text == NULL) return absent;
  char known[160] = "";
  for (int i = 0; names[i] != NULL; i++) {
    if (strcmp(text, names[i]) == 0) return i;
    size_t used = strlen(known);
    (void)snprintf(known + used, sizeof known - used, "%s%s", i == 0 ? "" : ", ", names[i]);
  }
  line_fail(l, key, "\"%.60s\" is none of %s", text, known);
  return absent;
}

int line_index(struct line *l, int word, const char *what, int bound) {
  if (word >= l->words) {
    line_fail(l, what, "missing");
    return 0;
  }
  uint64_t value = 0;
  if (!line_parse_number(l->word[word], &value)) {
    line_fail(l, what, "\"%.60s\" is not a number", l->word[word]);
    return 0;
  }
  if (bound <= 0 || value >= (uint64_t)bound) {
    line_fail(l, what, "%llu is not below %d", (unsigned long long)value, bound);
    return 0;
  }
  return (int)value;
}

void line_end(struct line *l, int words) {
  if (l->words > words) line_fail(l, "line", "unexpected word \"%.60s\"", l->word[words]);
  for (int i = 0; i < l->pairs; i++) {
    if (!l->taken[i]) line_fail(l, l->key[i], "is no field of \"%.30s\"", l->word[0]);
  }
}
