/*
 * What an attacker would bring along, for the system calls that a shell has no command for. Exit status: 0 if the attack did what it
 * wanted, 1 if the kernel or the driver refused it, 2 for a wrong call. Linked statically as well: no interposer reaches that one.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

/* Puts another file over it, or makes it writable, or takes its mount away. */
static int mounts(const char *file) {
  if (mount("/dev/null", file, NULL, MS_BIND, NULL) == 0) {
    return umount2(file, MNT_DETACH) == 0 ? 0 : 1; /* could; the attacks after this one want the file */
  }
  if (mount(NULL, file, NULL, MS_REMOUNT | MS_BIND, NULL) == 0 || umount2(file, MNT_DETACH) == 0) {
    return 0;
  }
  perror(file);
  return 1;
}

/* Takes so much memory or disk with the file; all of it or nothing, for others cut it while it grows. */
static int grow(const char *file, long mib) {
  int fd = open(file, O_RDWR | O_CLOEXEC);
  int error = fd < 0 ? errno : posix_fallocate(fd, 0, mib << 20);
  if (error != 0) {
    fprintf(stderr, "%s: %s\n", file, strerror(error));
  }
  return error == 0 ? 0 : 1;
}

/* Every kind of lock on the whole of each file, for so many seconds. */
static int hold(int seconds, char **files, int count) {
  for (int i = 0; i < count; i++) {
    int fd = open(files[i], O_RDWR);
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) != 0 || fcntl(fd, F_OFD_SETLK, &whole) != 0) {
      perror(files[i]);
      return 1;
    }
  }
  (void)puts("holding");
  (void)fflush(stdout);
  (void)sleep((unsigned)seconds);
  return 0;
}

struct process {
  unsigned pid;
  unsigned long long bytes;
  unsigned gpu_instance;
  unsigned compute_instance;
};

/* Asks the driver who computes on any card that it shows. This program has no context itself. */
static int others(void) {
  void *driver = dlopen("libnvidia-ml.so.1", RTLD_NOW);
  if (driver == NULL) {
    fprintf(stderr, "%s\n", dlerror());
    return 2;
  }
  int (*init)(void) = (int (*)(void))dlsym(driver, "nvmlInit_v2");
  int (*count)(unsigned *) = (int (*)(unsigned *))dlsym(driver, "nvmlDeviceGetCount_v2");
  int (*handle)(unsigned, void **) = (int (*)(unsigned, void **))dlsym(driver, "nvmlDeviceGetHandleByIndex_v2");
  int (*list)(void *, unsigned *, struct process *) =
      (int (*)(void *, unsigned *, struct process *))dlsym(driver, "nvmlDeviceGetComputeRunningProcesses_v3");
  unsigned cards = 0;
  unsigned processes = 0;
  if (init() != 0 || count(&cards) != 0) {
    return 2;
  }
  for (unsigned i = 0; i < cards; i++) {
    struct process found[64];
    unsigned n = 64;
    void *card;
    if (handle(i, &card) == 0 && list(card, &n, found) == 0) {
      processes += n;
    }
  }
  printf("%u processes on %u cards\n", processes, cards);
  return processes > 0 ? 0 : 1;
}

int main(int argc, char **argv) {
  if (argc == 3 && strcmp(argv[1], "mounts") == 0) return mounts(argv[2]);
  if (argc == 4 && strcmp(argv[1], "grow") == 0) return grow(argv[2], atol(argv[3]));
  if (argc >= 4 && strcmp(argv[1], "hold") == 0) return hold(atoi(argv[2]), argv + 3, argc - 3);
  if (argc == 2 && strcmp(argv[1], "others") == 0) return others();
  return 2;
}
