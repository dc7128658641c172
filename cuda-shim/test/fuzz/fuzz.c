/*
 * Runs a target: every input of its corpus, then inputs drawn anew and variants of those of the corpus, for FUZZ_ITERATIONS rounds or
 * FUZZ_SECONDS, from FUZZ_SEED (or 1). What ends the program is told as a line that can be given back.
 *
 *   fuzz-TARGET [CORPUS]
 *   fuzz-TARGET --input LINE
 *   fuzz-TARGET-grow CORPUS SECONDS     a build that sees which code runs: adds inputs that reach more, leaves out those that do not
 */
#include "fuzz.h"

#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "../unit/draws.h"

#define SEES_NOT __attribute__((no_sanitize_coverage))

enum { CORPUS = 1000, MAP = 1 << 16, LINE_BYTES = 2048 };

static struct fuzz_input corpus[CORPUS];
static size_t corpus_count;
static const struct fuzz_input *running;

/* ---- numbers */

SEES_NOT uint64_t fuzz_next(struct fuzz *f) {
  uint64_t at = f->drawn++, value = draws_next(&f->state);
  while (f->changed < f->input->count && f->input->changes[f->changed].at < at) f->changed++;
  return f->changed < f->input->count && f->input->changes[f->changed].at == at ? f->input->changes[f->changed].value : value;
}

SEES_NOT uint64_t fuzz_below(struct fuzz *f, uint64_t bound) { return fuzz_next(f) % bound; }

SEES_NOT void fuzz_mutate(struct fuzz *f, unsigned char *data, size_t length) {
  static const uint64_t edges[] = {0, 1, 0x7F, 0xFF, 0x7FFFFFFF, 0xFFFFFFFF, INT64_MAX, UINT64_MAX};
  for (uint64_t n = 1 + fuzz_below(f, 6); length >= 16 && n > 0; n--) {
    size_t at = fuzz_below(f, length - 8), from = fuzz_below(f, length - 8);
    uint64_t edge = edges[fuzz_below(f, sizeof edges / sizeof edges[0])];
    switch (fuzz_below(f, 5)) {
      case 0: data[at] = (unsigned char)(data[at] ^ (1u << fuzz_below(f, 8))); break;
      case 1: data[at] = (unsigned char)edge; break;
      case 2: memcpy(data + at, &edge, 4); break;
      case 3: memcpy(data + at, &edge, 8); break;
      default: memmove(data + at, data + from, 1 + fuzz_below(f, 8)); break;
    }
  }
}

/* ---- inputs as lines */

SEES_NOT static size_t line_of(const struct fuzz_input *in, char *out) {
  int n = snprintf(out, LINE_BYTES, "%llx", (unsigned long long)in->seed);
  for (uint32_t i = 0; i < in->count; i++) {
    n += snprintf(out + n, LINE_BYTES - (size_t)n, " %llx=%llx", (unsigned long long)in->changes[i].at,
                  (unsigned long long)in->changes[i].value);
  }
  return (size_t)n;
}

SEES_NOT static bool read_line(const char *line, struct fuzz_input *in) {
  char *end;
  in->count = 0;
  in->seed = strtoull(line, &end, 16);
  if (end == line) return false;
  while (*end == ' ') {
    if (in->count == FUZZ_CHANGES) return false;
    struct fuzz_change *c = &in->changes[in->count];
    c->at = strtoull(end + 1, &end, 16);
    if (*end != '=' || (in->count > 0 && c->at <= c[-1].at)) return false;
    c->value = strtoull(end + 1, &end, 16);
    in->count++;
  }
  return *end == '\n' || *end == '\0';
}

SEES_NOT static void read_corpus(const char *path) {
  FILE *file = fopen(path, "re");
  char line[LINE_BYTES];
  if (file == NULL) {
    (void)fprintf(stderr, "%s: cannot be read\n", path);
    exit(2);
  }
  for (unsigned n = 1; fgets(line, sizeof line, file) != NULL; n++) {
    if (line[0] == '#') continue;
    if (corpus_count == CORPUS || !read_line(line, &corpus[corpus_count++])) {
      (void)fprintf(stderr, "%s:%u: not an input, or one too many\n", path, n);
      exit(2);
    }
  }
  (void)fclose(file);
}

/* ---- running */

SEES_NOT static void tell(void) {
  char text[LINE_BYTES + 32] = "\n--input '";
  if (running == NULL) return;
  size_t n = 10 + line_of(running, text + 10);
  text[n++] = '\'';
  text[n++] = '\n';
  if (write(STDERR_FILENO, text, n) < 0) _exit(1);
}

/* A status, not a signal: a test that must fail may not crash. */
SEES_NOT __attribute__((noreturn)) static void aborted(int signal_number) {
  (void)signal_number;
  tell();
  _exit(1);
}

void fuzz_wrong(const char *what) {
  (void)fprintf(stderr, "%s", what);
  (void)fflush(stderr);
  aborted(0);
}

/* The sanitizers' own ways to end a program are several; this one they share. */
SEES_NOT const char *__asan_default_options(void);
SEES_NOT const char *__asan_default_options(void) { return "abort_on_error=1"; }
SEES_NOT const char *__ubsan_default_options(void);
SEES_NOT const char *__ubsan_default_options(void) { return "abort_on_error=1"; }

static uint64_t run(const struct fuzz_target *target, const struct fuzz_input *input, uint64_t *drawn) {
  struct fuzz f = {.input = input, .state = input->seed};
  running = input;
  uint64_t rounds = target->block(&f);
  running = NULL;
  *drawn = f.drawn;
  return rounds;
}

/* One number more replaced, another one there, or one less. */
SEES_NOT static void vary(struct fuzz *f, struct fuzz_input *in, uint64_t drawn) {
  static const uint64_t edges[] = {0, 1, 2, 3, 7, 8, 0xFF, 0xFFFFFFFF, INT64_MAX, UINT64_MAX};
  for (uint64_t n = 1 + fuzz_below(f, 3); n > 0; n--) {
    uint64_t at = fuzz_below(f, drawn < 400 ? drawn + 1 : 400), how = fuzz_below(f, 8);
    uint32_t i = 0;
    if (how == 0 && in->count > 0) {
      i = (uint32_t)fuzz_below(f, in->count);
      memmove(&in->changes[i], &in->changes[i + 1], (--in->count - i) * sizeof in->changes[0]);
      continue;
    }
    uint64_t value = how < 4   ? edges[fuzz_below(f, sizeof edges / sizeof edges[0])]
                     : how < 6 ? fuzz_below(f, 64)
                               : fuzz_next(f);
    while (i < in->count && in->changes[i].at < at) i++;
    if (i == in->count || in->changes[i].at != at) {
      if (in->count == FUZZ_CHANGES) continue;
      memmove(&in->changes[i + 1], &in->changes[i], (in->count++ - i) * sizeof in->changes[0]);
    }
    in->changes[i] = (struct fuzz_change){at, value};
  }
}

SEES_NOT static struct fuzz_input draw(struct fuzz *f) {
  struct fuzz_input in = {.seed = fuzz_next(f)};
  if (corpus_count == 0 || fuzz_below(f, 2) == 0) return in;
  in = corpus[fuzz_below(f, corpus_count)];
  vary(f, &in, 400);
  return in;
}

SEES_NOT static uint64_t number(const char *name, uint64_t otherwise) {
  const char *text = getenv(name);
  return text != NULL ? strtoull(text, NULL, 10) : otherwise;
}

SEES_NOT static uint64_t now_ms(void) {
  struct timespec t;
  (void)clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static int run_all(const struct fuzz_target *target) {
  uint64_t seconds = number("FUZZ_SECONDS", 0), rounds = 0, drawn, started = now_ms();
  uint64_t most = number("FUZZ_ITERATIONS", seconds > 0 ? UINT64_MAX : target->rounds);
  struct fuzz_input seed = {.seed = number("FUZZ_SEED", 1)};
  struct fuzz f = {.input = &seed, .state = seed.seed};
  for (size_t i = 0; i < corpus_count; i++) rounds += run(target, &corpus[i], &drawn);
  while (rounds < most && (seconds == 0 || now_ms() - started < seconds * 1000)) {
    struct fuzz_input in = draw(&f);
    rounds += run(target, &in, &drawn);
  }
  const char *wrong = target->wrong(rounds);
  (void)printf("%llu rounds, %zu inputs of the corpus, seed %llu, %llu s%s%s\n", (unsigned long long)rounds, corpus_count,
               (unsigned long long)seed.seed, (unsigned long long)(now_ms() - started) / 1000, wrong == NULL ? "" : ": ",
               wrong == NULL ? "" : wrong);
  return wrong == NULL ? 0 : 1;
}

/* ---- growing a corpus: only in builds that call __sanitizer_cov_trace_pc */

static unsigned char map[MAP], seen[MAP];
static uintptr_t last;
static bool traced;

/* At every edge of the code that is looked at. Where it runs from must not matter. */
SEES_NOT void __sanitizer_cov_trace_pc(void);
SEES_NOT void __sanitizer_cov_trace_pc(void) {
  uintptr_t here = (uintptr_t)__builtin_return_address(0) - (uintptr_t)&fuzz_main;
  unsigned char *cell = &map[draws_mixed(here ^ (last << 1)) % MAP];
  if (*cell < 255) *cell = (unsigned char)(*cell + 1);
  last = here;
  traced = true;
}

/* How often, roughly: one bit each for 1, 2, 3, 4-7, 8-15, 16-31, 32-127, more. */
SEES_NOT static unsigned char about(unsigned char n) {
  static const unsigned char least[] = {1, 2, 3, 4, 8, 16, 32, 128};
  unsigned bits = 0;
  for (unsigned i = 0; i < sizeof least && n >= least[i]; i++) bits = 1u << i;
  return (unsigned char)bits;
}

/* How much more this run has reached than `seen`; adds it if wanted. */
SEES_NOT static unsigned reached(bool add) {
  unsigned more = 0;
  for (int i = 0; i < MAP; i++) {
    unsigned char now = about(map[i]);
    if ((now & ~seen[i]) != 0) more++;
    if (add) seen[i] = (unsigned char)(seen[i] | now);
  }
  return more;
}

SEES_NOT static uint64_t watched(const struct fuzz_target *target, const struct fuzz_input *in) {
  uint64_t drawn;
  memset(map, 0, sizeof map);
  last = 0;
  (void)run(target, in, &drawn);
  return drawn;
}

/* Greedy: those first that reach most, then only what reaches more. */
SEES_NOT static void minimise(const struct fuzz_target *target) {
  static unsigned most[CORPUS];
  static struct fuzz_input kept[CORPUS];
  size_t count = 0;
  memset(seen, 0, sizeof seen);
  for (size_t i = 0; i < corpus_count; i++) {
    (void)watched(target, &corpus[i]);
    most[i] = reached(false);
  }
  for (size_t n = 0; n < corpus_count; n++) {
    size_t best = 0;
    for (size_t i = 1; i < corpus_count; i++) {
      if (most[i] > most[best]) best = i;
    }
    if (most[best] == 0) break;
    most[best] = 0;
    (void)watched(target, &corpus[best]);
    if (reached(true) > 0) kept[count++] = corpus[best];
  }
  memcpy(corpus, kept, sizeof corpus);
  corpus_count = count;
}

SEES_NOT static void shorten(const struct fuzz_target *target, struct fuzz_input *in) {
  (void)watched(target, in);
  unsigned worth = reached(false);
  for (uint32_t i = in->count; i-- > 0;) {
    struct fuzz_input less = *in;
    memmove(&less.changes[i], &less.changes[i + 1], (--less.count - i) * sizeof less.changes[0]);
    (void)watched(target, &less);
    if (reached(false) >= worth) *in = less;
  }
}

SEES_NOT static int grow(const struct fuzz_target *target, const char *path, uint64_t seconds) {
  struct fuzz_input seed = {.seed = number("FUZZ_SEED", now_ms())};
  struct fuzz f = {.input = &seed, .state = seed.seed};
  uint64_t until = now_ms() + seconds * 1000, runs = 0;
  char line[LINE_BYTES];
  size_t before = corpus_count;
  minimise(target);
  if (!traced && corpus_count == 0) (void)watched(target, &seed);
  if (!traced) {
    (void)fprintf(stderr, "this build does not see which code runs\n");
    return 2;
  }
  while (now_ms() < until) {
    if (corpus_count == CORPUS) minimise(target);
    if (corpus_count == CORPUS) break;
    struct fuzz_input in = draw(&f);
    (void)watched(target, &in);
    runs++;
    if (reached(false) == 0) continue;
    shorten(target, &in);
    (void)watched(target, &in);
    (void)reached(true);
    corpus[corpus_count++] = in;
  }
  minimise(target);
  FILE *out = fopen(path, "we");
  if (out == NULL) return 2;
  for (size_t i = 0; i < corpus_count; i++) {
    (void)line_of(&corpus[i], line);
    (void)fprintf(out, "%s\n", line);
  }
  (void)printf("%llu runs: %zu inputs, %zu before\n", (unsigned long long)runs, corpus_count, before);
  return fclose(out) == 0 ? 0 : 2;
}

int fuzz_main(int argc, char **argv, const struct fuzz_target *target) {
  struct fuzz_input one;
  uint64_t drawn;
  (void)signal(SIGABRT, aborted);
  if (argc == 3 && strcmp(argv[1], "--input") == 0) {
    if (!read_line(argv[2], &one)) return 2;
    (void)run(target, &one, &drawn);
    return 0;
  }
  if (argc > 1) read_corpus(argv[1]);
  return argc == 3 ? grow(target, argv[1], strtoull(argv[2], NULL, 10)) : run_all(target);
}
