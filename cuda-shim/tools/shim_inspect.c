/*
 * Prints what a region holds, without changing anything: for people in a container, and for tests that compare what a
 * container sees with what it was given. Linked statically, so that it runs in any image.
 *
 * Exit status: 0 printed, 1 called wrongly or nothing there, 2 there is a region but it is not a good one.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "region_print.h"

enum { EXIT_OK = 0, EXIT_NOTHING = 1, EXIT_BAD = 2, MAX_ENTRIES = 1024, MAX_PATH = 4096 };

static const char USAGE[] =
    "usage: shim-inspect [--json] FILE...\n"
    "       shim-inspect [--json] --dir " VGPU_CONFIG_ROOT
    "\n"
    "Prints regions of the shared memory between agent and library: limits, usage, load.\n"
    "--dir takes the `limits` of the one directory below that has one; --json prints one object a line.\n";

static bool read_fd(void *self, uint64_t offset, void *out, size_t length) {
  size_t done = 0;
  while (done < length) {
    ssize_t n = pread(*(const int *)self, (char *)out + done, length - done, (off_t)(offset + done));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    done += (size_t)n;
  }
  return true;
}

static int complain(const char *path, const char *why, int status) {
  (void)fprintf(stderr, "shim-inspect: %s: %s\n", path, why);
  return status;
}

static int inspect(const char *path, bool json) {
  static struct region region; /* half a MiB: not for the stack */
  char error[REGION_ERROR_BYTES];
  struct stat st;
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (fd < 0) return complain(path, strerror(errno), EXIT_NOTHING);
  int status = EXIT_OK;
  if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
    status = complain(path, "not a regular file", EXIT_BAD);
  } else {
    struct region_source source = {read_fd, &fd, (uint64_t)st.st_size};
    if (region_read(&source, &region, error)) {
      status = complain(path, error, EXIT_BAD);
    } else {
      region_print(stdout, json, path, &region);
    }
  }
  (void)close(fd);
  return status;
}

/* Path of the `limits` in the one directory below that has one. */
static int find_limits(const char *root, char *found) {
  char path[MAX_PATH];
  struct stat st;
  DIR *dir = opendir(root);
  if (dir == NULL) return complain(root, strerror(errno), EXIT_NOTHING);
  int count = 0, seen = 0;
  for (struct dirent *entry; (entry = readdir(dir)) != NULL && seen < MAX_ENTRIES; seen++) {
    if (entry->d_name[0] == '.') continue;
    int n = snprintf(path, sizeof path, "%s/%s/" VGPU_LIMITS_FILE, root, entry->d_name);
    if (n < 0 || (size_t)n >= sizeof path || stat(path, &st) != 0) continue;
    if (count++ == 0) memcpy(found, path, (size_t)n + 1);
  }
  (void)closedir(dir);
  if (seen == MAX_ENTRIES) return complain(root, "more than 1024 entries", EXIT_BAD);
  if (count == 0) return complain(root, "no directory below it has a limits file: nothing is limited", EXIT_NOTHING);
  if (count > 1) return complain(root, "more than one directory below it has a limits file", EXIT_BAD);
  return EXIT_OK;
}

static int usage_error(void) {
  (void)fputs(USAGE, stderr);
  return EXIT_NOTHING;
}

int main(int argc, char **argv) {
  char found[MAX_PATH];
  bool json = false;
  const char *dir = NULL;
  int at = 1;
  for (; at < argc && strncmp(argv[at], "--", 2) == 0; at++) {
    if (strcmp(argv[at], "--json") == 0) {
      json = true;
    } else if (strcmp(argv[at], "--dir") == 0 && at + 1 < argc) {
      dir = argv[++at];
    } else if (strcmp(argv[at], "--help") == 0) {
      return fputs(USAGE, stdout) < 0 ? EXIT_NOTHING : EXIT_OK;
    } else {
      return usage_error();
    }
  }
  if ((dir == NULL) == (at == argc)) return usage_error();
  if (dir != NULL) {
    int status = find_limits(dir, found);
    return status != EXIT_OK ? status : inspect(found, json);
  }
  int worst = EXIT_OK;
  for (; at < argc; at++) {
    int status = inspect(argv[at], json);
    if (status > worst) worst = status;
  }
  return worst;
}
