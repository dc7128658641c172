/* Holds a pod's namespaces open: sleeps, collects orphans, ends when told to. */
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

int main(void) {
  sigset_t set;
  int sig;

  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
  sigaddset(&set, SIGCHLD);
  if (sigprocmask(SIG_BLOCK, &set, NULL) != 0) {
    return EXIT_FAILURE;
  }
  for (;;) {
    if (sigwait(&set, &sig) != 0) {
      return EXIT_FAILURE;
    }
    if (sig != SIGCHLD) {
      return EXIT_SUCCESS;
    }
    while (waitpid(-1, NULL, WNOHANG) > 0) {
    }
  }
}
