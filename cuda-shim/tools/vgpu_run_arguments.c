#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "vgpu_run.h"

static const char *const FLAGS[] = {"--memory", "--cores",   "--gpu",  "--policy", "--latency",
                                    "--mps",    "--library", "--list", "--help"};
enum { FLAG_COUNT = sizeof FLAGS / sizeof FLAGS[0] };

static const char *const POLICIES[] = {[RUN_FIXED] = "fixed", [RUN_BALANCE] = "balance", [RUN_NONE] = "none"};

const char *run_policy_name(enum run_policy policy) { return POLICIES[policy]; }

void run_say(const char *format, ...) {
  va_list list;
  va_start(list, format);
  (void)fputs("vgpu-run: ", stderr);
  (void)vfprintf(stderr, format, list);
  (void)fputc('\n', stderr);
  va_end(list);
}

void run_fail(const char *format, ...) {
  va_list list;
  va_start(list, format);
  (void)fputs("vgpu-run: ", stderr);
  (void)vfprintf(stderr, format, list);
  (void)fputc('\n', stderr);
  va_end(list);
  exit(RUN_FAILED);
}

void run_print_help(void) {
  (void)puts(
      "usage: vgpu-run [--memory MIB] [--cores PERCENT] [options] [--] COMMAND [ARGUMENT…]\n"
      "       vgpu-run --list\n"
      "\n"
      "Runs COMMAND under limits on one GPU: it sees a card of MIB MiB, and gets PERCENT percent of its time.\n"
      "\n"
      "  --memory MIB       device memory of all its processes together, contexts included; not given: no limit\n"
      "  --cores PERCENT    GPU time, 1 to 100; not given: no limit\n"
      "  --gpu INDEX|UUID   the card, as nvidia-smi names it; default 0. The command sees no other\n"
      "  --policy POLICY    fixed: never above the limit (default); balance: above it while nobody else uses the card;\n"
      "                     none: cores are not limited\n"
      "  --latency          launches never wait for a turn: while this command works, nobody on the card takes turns\n"
      "  --mps              cores are a part of the multiprocessors instead of a part of the time, kept by the MPS daemon that\n"
      "                     serves the card (in $CUDA_MPS_PIPE_DIRECTORY, or /tmp/nvidia-mps); by time if it does not keep them\n"
      "  --library FILE     libvgpu-control.so; default: the one beside this program\n"
      "  --list             the cards, and what runs on them under vgpu-run\n"
      "  --help             this text\n"
      "\n"
      "Exit status: the command's; 128 and the signal's number if a signal ended it; 125 if vgpu-run itself fails; 126\n"
      "if the command cannot be started; 127 if it is not there.");
}

static unsigned distance(const char *a, const char *b) {
  size_t n = strlen(b);
  unsigned row[64];
  if (n >= 64 || strlen(a) >= 64) return 64;
  for (size_t k = 0; k <= n; k++) row[k] = (unsigned)k;
  for (size_t i = 1; a[i - 1] != '\0'; i++) {
    unsigned corner = row[0];
    row[0] = (unsigned)i;
    for (size_t k = 1; k <= n; k++) {
      unsigned replaced = corner + (a[i - 1] != b[k - 1]);
      corner = row[k];
      unsigned least = row[k] < row[k - 1] ? row[k] + 1 : row[k - 1] + 1;
      row[k] = replaced < least ? replaced : least;
    }
  }
  return row[n];
}

static const char *nearest(const char *word, const char *const *known, unsigned count) {
  const char *best = known[0];
  for (unsigned i = 1; i < count; i++) {
    if (distance(word, known[i]) < distance(word, best)) best = known[i];
  }
  return best;
}

static uint64_t number(const char *flag, const char *value, uint64_t low, uint64_t high, const char *rule) {
  uint64_t n = 0;
  size_t digits = strspn(value, "0123456789");
  if (digits == 0 || digits > 9 || value[digits] != '\0') run_fail("%s: \"%s\": must be %s", flag, value, rule);
  for (size_t i = 0; i < digits; i++) n = 10 * n + (uint64_t)(value[i] - '0');
  if (n < low || n > high) run_fail("%s: \"%s\": must be %s", flag, value, rule);
  return n;
}

static enum run_policy policy(const char *value) {
  for (unsigned i = 0; i < sizeof POLICIES / sizeof POLICIES[0]; i++) {
    if (strcmp(value, POLICIES[i]) == 0) return (enum run_policy)i;
  }
  run_fail("--policy: \"%s\": must be fixed, balance or none; nearest: %s", value, nearest(value, POLICIES, 3));
}

/* One option with its value; `name` is one of FLAGS. */
static void set(struct run_arguments *out, const char *name, const char *value) {
  if (strcmp(name, "--memory") == 0) {
    out->memory_mib = number(name, value, 1, 99999999, "a number of MiB, at least 1");
  } else if (strcmp(name, "--cores") == 0) {
    out->cores = (uint32_t)number(name, value, 1, 100, "a percentage, 1 to 100");
  } else if (strcmp(name, "--gpu") == 0) {
    out->gpu = value;
  } else if (strcmp(name, "--policy") == 0) {
    out->policy = policy(value);
  } else {
    out->library = value;
  }
}

static const char *flag_named(const char *word, size_t length) {
  for (unsigned i = 0; i < FLAG_COUNT; i++) {
    if (strlen(FLAGS[i]) == length && strncmp(word, FLAGS[i], length) == 0) return FLAGS[i];
  }
  run_fail("%.*s: unknown; nearest: %s (--help lists all)", (int)length, word, nearest(word, FLAGS, FLAG_COUNT));
}

void run_parse(int argc, char **argv, struct run_arguments *out) {
  *out = (struct run_arguments){.gpu = "0"};
  int i = 1;
  for (; i < argc && argv[i][0] == '-' && strcmp(argv[i], "-") != 0; i++) {
    if (strcmp(argv[i], "--") == 0) {
      i++;
      break;
    }
    const char *equals = strchr(argv[i], '=');
    const char *name = flag_named(argv[i], equals == NULL ? strlen(argv[i]) : (size_t)(equals - argv[i]));
    bool *bare = strcmp(name, "--list") == 0      ? &out->list
                 : strcmp(name, "--help") == 0    ? &out->help
                 : strcmp(name, "--mps") == 0     ? &out->mps
                 : strcmp(name, "--latency") == 0 ? &out->latency
                                                  : NULL;
    if (bare != NULL) {
      if (equals != NULL) run_fail("%s: takes no value, got \"%s\"", name, equals + 1);
      *bare = true;
      continue;
    }
    const char *value = equals != NULL ? equals + 1 : argv[++i];
    if (value == NULL || value[0] == '\0') run_fail("%s: needs a value", name);
    set(out, name, value);
  }
  if (out->help || out->list) return;
  if (i >= argc) run_fail("COMMAND: is missing (--help tells how to call this)");
  if (out->memory_mib == 0 && out->cores == 0) run_fail("--memory or --cores: one of them must be given");
  if (out->mps && (out->cores == 0 || out->cores == 100 || out->policy != RUN_FIXED))
    run_fail("--mps: needs --cores below 100, and --policy fixed: a part of the multiprocessors is not lent");
  out->command = argv + i;
}
