#include "vgpu_run.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Passed on to the command; those that a terminal sends reach it by themselves. */
static const int FORWARDED[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGALRM, SIGWINCH, SIGCONT, SIGTSTP};
enum { FORWARDED_COUNT = sizeof FORWARDED / sizeof FORWARDED[0] };

/* Limits that are mounted win over ours, so the command would run under others than it was asked for. */
static void refuse_in_a_container(void) {
  DIR *root = opendir(VGPU_CONFIG_ROOT);
  if (root == NULL) return;
  const struct dirent *e;
  for (int seen = 0; seen < 4096 && (e = readdir(root)) != NULL; seen++) {
    char path[512];
    (void)snprintf(path, sizeof path, "%s/%s/%s", VGPU_CONFIG_ROOT, e->d_name, VGPU_LIMITS_FILE);
    if (e->d_name[0] != '.' && access(path, F_OK) == 0) run_fail("%s: this container has limits already, and they win", path);
  }
  (void)closedir(root);
}

static bool beside(const char *relative, char out[PATH_MAX]) {
  char self[PATH_MAX];
  ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
  if (n < 0) return false;
  self[n] = '\0';
  char *slash = strrchr(self, '/');
  if (slash == NULL) return false;
  *slash = '\0';
  char path[2 * PATH_MAX];
  (void)snprintf(path, sizeof path, "%s/%s", self, relative);
  return realpath(path, out) != NULL && access(out, R_OK) == 0;
}

static void find_library(const struct run_arguments *a, char out[PATH_MAX]) {
  if (a->library != NULL) {
    if (realpath(a->library, out) == NULL || access(out, R_OK) != 0) {
      run_fail("--library: \"%s\": %s", a->library, strerror(errno));
    }
  } else if (!beside(VGPU_LIBRARY_FILE, out) && !beside("../lib/vgpu-manager/" VGPU_LIBRARY_FILE, out)) {
    run_fail("--library: not given, and no %s is beside this program or in ../lib/vgpu-manager", VGPU_LIBRARY_FILE);
  }
  if (strpbrk(out, ": \t") != NULL) run_fail("--library: \"%s\": LD_PRELOAD cannot name a path with blanks or colons", out);
}

static void set_environment(const struct run_card *card, const struct run_place *place, const char *library) {
  char preload[PATH_MAX + 4096];
  const char *present = getenv("LD_PRELOAD");
  int n = present == NULL || present[0] == '\0' ? snprintf(preload, sizeof preload, "%s", library)
                                                : snprintf(preload, sizeof preload, "%s:%s", library, present);
  if (n < 0 || (size_t)n >= sizeof preload) run_fail("LD_PRELOAD: is too long");
  if (setenv("LD_PRELOAD", preload, 1) != 0 || setenv("CUDA_SHIM_CONFIG_DIR", place->tenant, 1) != 0 ||
      setenv("CUDA_VISIBLE_DEVICES", card->uuid, 1) != 0 || unsetenv("CUDA_SHIM_DISABLE") != 0) {
    run_fail("the environment cannot be set: %s", strerror(errno));
  }
}

static const char *pipe_directory(void) {
  const char *named = getenv("CUDA_MPS_PIPE_DIRECTORY");
  return named != NULL && named[0] != '\0' ? named : "/tmp/nvidia-mps";
}

/* The daemon must be there, and have something to give: else the command would run by time, which was not asked for. */
static void check_mps(const struct run_arguments *a, const struct run_card *card) {
  char control[PATH_MAX];
  int n = snprintf(control, sizeof control, "%s/control", pipe_directory());
  if (n < 0 || (size_t)n >= sizeof control || access(control, F_OK) != 0) {
    run_fail("--mps: no MPS daemon serves in %s; one is started by: CUDA_VISIBLE_DEVICES=%s nvidia-cuda-mps-control -d",
             pipe_directory(), card->uuid);
  }
  if (card->multiprocessors == 0) run_fail("--mps: nobody knows how many multiprocessors this card has");
  if (card->multiprocessors * a->cores < 200) { /* they are given out in pairs, rounded down */
    run_fail("--cores: \"%" PRIu32 "\": with --mps, must be two of the card's %" PRIu32 " multiprocessors or more", a->cores,
             card->multiprocessors);
  }
}

/* Of each process: MPS knows nothing of those that belong together. */
static void set_mps(const struct run_arguments *a) {
  char percentage[16], memory[40];
  (void)snprintf(percentage, sizeof percentage, "%" PRIu32, a->cores);
  (void)snprintf(memory, sizeof memory, "0=%" PRIu64 "M", a->memory_mib);
  if (setenv("CUDA_MPS_PIPE_DIRECTORY", pipe_directory(), 1) != 0 ||
      setenv("CUDA_MPS_ACTIVE_THREAD_PERCENTAGE", percentage, 1) != 0 ||
      (a->memory_mib != 0 && setenv("CUDA_MPS_PINNED_DEVICE_MEM_LIMIT", memory, 1) != 0)) {
    run_fail("the environment cannot be set: %s", strerror(errno));
  }
}

static pid_t start(char **command, const sigset_t *before) {
  pid_t child = fork();
  if (child != 0) return child;
  (void)sigprocmask(SIG_SETMASK, before, NULL);
  (void)execvp(command[0], command);
  int error = errno;
  run_say("%s: %s", command[0], strerror(error));
  _exit(error == ENOENT ? RUN_NOT_FOUND : RUN_NOT_EXECUTABLE);
}

static int exit_status(int status) { return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status); }

/* Stopped with the command, so that a shell gets its terminal back; meanwhile another launcher of the card leads. */
static void stop_too(struct run_loop *loop) {
  run_loop_yield(loop);
  (void)raise(SIGSTOP);
}

/* Returns true when the command has ended. */
static bool take_signals(int signals, pid_t child, struct run_loop *loop, int *status) {
  struct signalfd_siginfo s;
  while (read(signals, &s, sizeof s) == (ssize_t)sizeof s) {
    if (s.ssi_signo == SIGCHLD) {
      if (waitpid(child, status, WNOHANG) == child) return true;
    } else if (s.ssi_code != SI_KERNEL) { /* a terminal's goes to the whole group */
      (void)kill(child, (int)s.ssi_signo);
    }
    if (s.ssi_signo == SIGTSTP) stop_too(loop);
  }
  return false;
}

static int64_t now_ms(void) {
  struct timespec t;
  (void)clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static int stay_beside(pid_t child, int signals, struct run_loop *loop) {
  int status = 0;
  int64_t due = now_ms();
  for (;;) {
    int64_t now = now_ms();
    if (now >= due) due = now + run_loop_step(loop);
    struct pollfd p = {.fd = signals, .events = POLLIN};
    if (poll(&p, 1, (int)(due > now ? due - now : 0)) > 0 && take_signals(signals, child, loop, &status))
      return exit_status(status);
  }
}

static int run(const struct run_arguments *a) {
  /* before there is anything to leave behind, and before NVML: it has threads of its own, which would take signals away */
  sigset_t wanted, before;
  (void)sigemptyset(&wanted);
  (void)sigaddset(&wanted, SIGCHLD);
  for (int i = 0; i < FORWARDED_COUNT; i++) (void)sigaddset(&wanted, FORWARDED[i]);
  (void)sigprocmask(SIG_BLOCK, &wanted, &before);

  struct run_card cards[RUN_CARDS];
  unsigned count = run_cards(cards);
  const struct run_card *card = run_card_named(cards, count, a->gpu);
  if (card->total_bytes != 0 && a->memory_mib > card->total_bytes >> 20) {
    run_fail("--memory: \"%" PRIu64 "\": must not be more than the card's %" PRIu64 " MiB", a->memory_mib,
             card->total_bytes >> 20);
  }
  if (a->mps) check_mps(a, card);
  char library[PATH_MAX];
  find_library(a, library);
  refuse_in_a_container();

  int signals = signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK);
  if (signals < 0) run_fail("signalfd: %s", strerror(errno));

  struct run_place place;
  run_enter(card, a, &place);
  struct run_loop *loop = run_loop_begin(place.card, card->name);
  int status = RUN_FAILED;
  set_environment(card, &place, library);
  if (a->mps) set_mps(a);
  pid_t child = loop == NULL ? -1 : start(a->command, &before);
  if (child > 0) {
    status = stay_beside(child, signals, loop);
  } else {
    run_say("%s: cannot be started: %s", a->command[0], strerror(errno));
  }
  if (loop != NULL) run_loop_end(loop);
  run_leave(&place);
  return status;
}

static void list(void) {
  struct run_card cards[RUN_CARDS];
  unsigned count = run_cards(cards);
  for (unsigned i = 0; i < count; i++) {
    char directory[RUN_PATH], names[RUN_TENANTS][32], about[RUN_TEXT];
    (void)printf("GPU %u: %s (%s), %" PRIu64 " MiB\n", cards[i].index, cards[i].name, cards[i].uuid,
                 cards[i].total_bytes >> 20);
    if (!run_card_directory(cards[i].uuid, false, directory)) continue;
    unsigned tenants = run_tenants(directory, names);
    if (tenants > 0) (void)printf("  %8s %10s %6s %-8s %s\n", "pid", "memory MiB", "cores", "policy", "command");
    for (unsigned k = 0; k < tenants; k++) {
      if (!run_about(directory, names[k], about)) continue;
      char *fields[5] = {about, "", "", "", ""}, *rest = about;
      for (int f = 1; f < 5 && (rest = strchr(rest, '\t')) != NULL; f++) {
        *rest++ = '\0';
        fields[f] = rest;
      }
      (void)printf("  %8s %10s %6s %-8s %s\n", fields[0], fields[1], fields[2], fields[3], fields[4]);
    }
  }
}

int main(int argc, char **argv) {
  struct run_arguments arguments;
  run_parse(argc, argv, &arguments);
  if (arguments.help) {
    run_print_help();
    return 0;
  }
  if (arguments.list) {
    list();
    return 0;
  }
  return run(&arguments);
}
