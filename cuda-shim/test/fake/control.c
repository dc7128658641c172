/*
 * The control file: lines that a test appends while the node runs, FAKE_GPUS_CONTROL or `<profile>.control`. It need not
 * exist. It is looked at on every call and every few milliseconds during an event wait.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fake.h"

static char path[4096];
static off_t offset;         /* taken up to here */
static unsigned long number; /* lines taken */

void control_open(const char *profile_path) {
  const char *env = getenv("FAKE_GPUS_CONTROL");
  bool named = env != NULL && *env != '\0';
  int n = named ? snprintf(path, sizeof path, "%s", env) : snprintf(path, sizeof path, "%s.control", profile_path);
  if (n < 0 || (size_t)n >= sizeof path) {
    (void)fprintf(stderr, "FAKE_GPUS: the path of the control file is too long; there is none\n");
    path[0] = '\0';
  }
  offset = 0;
  number = 0;
}

static void take_line(const char *text, size_t length) {
  char error[FAKE_ERROR_BYTES];
  number++;
  if (fake_profile_line(&fake.profile, text, length, fake_now(), true, error)) {
    (void)fprintf(stderr, "FAKE_GPUS: %s:%lu: %s (line left out)\n", path, number, error);
  }
}

/* Takes whole lines from the start of the buffer; returns the bytes taken. */
static size_t take_lines(const char *buffer, size_t filled) {
  size_t taken = 0;
  for (;;) {
    const char *end = memchr(buffer + taken, '\n', filled - taken);
    if (end == NULL) break;
    size_t length = (size_t)(end - (buffer + taken));
    take_line(buffer + taken, length);
    taken += length + 1;
  }
  return taken;
}

void control_poll(void) {
  struct stat st;
  char buffer[4 * FAKE_LINE_BYTES];
  if (path[0] == '\0' || stat(path, &st) != 0 || st.st_size == offset) return;
  if (st.st_size < offset) offset = 0, number = 0;
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return;
  for (int rounds = 0; rounds < FAKE_FILE_BYTES / FAKE_LINE_BYTES; rounds++) {
    ssize_t n = pread(fd, buffer, sizeof buffer, offset);
    if (n <= 0) break;
    size_t taken = take_lines(buffer, (size_t)n);
    if (taken == 0 && (size_t)n == sizeof buffer) taken = (size_t)n; /* no line is that long: pass over it */
    if (taken == 0) break;
    offset += (off_t)taken;
  }
  (void)close(fd);
}
