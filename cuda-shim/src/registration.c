/* One frame there, one back, on a socket that never blocks. */
#include "registration.h"

#include "log.h"
#include "sys.h"
#include "text.h"

enum { INTERRUPTED = -4 /* EINTR */, AGAIN = -11 /* EAGAIN */, BACKLOG_PAUSE_NS = 2000000 };

/* Whether the socket is ready before the deadline; signals of the program's own only interrupt the waiting. */
static bool ready(int fd, short events, int64_t deadline) {
  for (;;) {
    int64_t left = deadline - sys_monotonic_ns();
    if (left <= 0) return false;
    int got = sys_poll_one(fd, events, left);
    if (got != INTERRUPTED) return got > 0;
  }
}

/* A full queue of a unix socket is EAGAIN, and nothing tells when it has room. */
static int connected(int fd, const struct sys_unix_address *to, int64_t deadline) {
  int result;
  while ((result = sys_connect(fd, to)) == AGAIN || result == INTERRUPTED) {
    if (sys_monotonic_ns() >= deadline) return result;
    sys_sleep_ns(BACKLOG_PAUSE_NS);
  }
  return result;
}

static enum vgpu_registered sent(int fd, const struct vgpu_register_request *request, int64_t deadline) {
  size_t done = 0;
  while (done < sizeof *request) {
    long n = sys_send(fd, (const char *)request + done, sizeof *request - done);
    if (n > 0) {
      done += (size_t)n;
    } else if (n == AGAIN || n == INTERRUPTED) {
      if (!ready(fd, SYS_POLLOUT, deadline)) return VGPU_REGISTRATION_LATE;
    } else {
      return VGPU_REGISTRATION_NONE; /* it has closed */
    }
  }
  return VGPU_REGISTERED;
}

enum vgpu_registered vgpu_register_on(int fd, const struct vgpu_register_request *request, int64_t deadline) {
  enum vgpu_registered result = sent(fd, request, deadline);
  if (result != VGPU_REGISTERED) return result;
  struct vgpu_register_reply reply = {0, 0};
  size_t got = 0;
  while (got < sizeof reply) {
    if (!ready(fd, SYS_POLLIN, deadline)) return VGPU_REGISTRATION_LATE;
    long n = sys_read(fd, (char *)&reply + got, sizeof reply - got);
    if (n == AGAIN || n == INTERRUPTED) continue;
    if (n <= 0) return VGPU_REGISTRATION_NONE;
    got += (size_t)n;
  }
  if (reply.magic != VGPU_REGISTER_MAGIC) return VGPU_REGISTRATION_RUBBISH;
  if (reply.status == VGPU_REGISTER_OK) return VGPU_REGISTERED;
  return reply.status == VGPU_REGISTER_REFUSED ? VGPU_REGISTRATION_REFUSED : VGPU_REGISTRATION_RUBBISH;
}

static enum vgpu_registered exchange(const struct sys_unix_address *to, const struct vgpu_register_request *request) {
  int64_t deadline = sys_monotonic_ns() + VGPU_REGISTER_TIMEOUT_MS * (int64_t)1000000;
  int fd = sys_unix_socket();
  if (fd < 0) return VGPU_REGISTRATION_NONE; /* the program may have none left, or may not have sockets */
  int result = connected(fd, to, deadline);
  enum vgpu_registered registered = result == 0       ? vgpu_register_on(fd, request, deadline)
                                    : result == AGAIN ? VGPU_REGISTRATION_LATE
                                                      : VGPU_REGISTRATION_NONE;
  (void)sys_close(fd);
  return registered;
}

static void say(enum vgpu_registered registered, const char *path) {
  switch (registered) {
    case VGPU_REGISTERED: vgpu_log(VGPU_LOG_INFO, "registered with the agent", path, -1); break;
    case VGPU_REGISTRATION_REFUSED: vgpu_log(VGPU_LOG_WARNING, "the agent refused to register this process", path, -1); break;
    case VGPU_REGISTRATION_RUBBISH: vgpu_log(VGPU_LOG_WARNING, "not registered: no answer of an agent", path, -1); break;
    case VGPU_REGISTRATION_LATE: vgpu_log(VGPU_LOG_WARNING, "not registered: the agent is late", path, -1); break;
    case VGPU_REGISTRATION_NONE: vgpu_log(VGPU_LOG_INFO, "not registered: nobody is there", path, -1); break;
  }
}

enum vgpu_registered vgpu_register(const struct vgpu_shared *shared, const struct vgpu_process *p) {
  if (shared->own != NULL) return VGPU_REGISTRATION_NONE; /* limits that nobody else knows of */
  struct sys_unix_address to = {SYS_AF_UNIX, ""};
  text_append(to.path, sizeof to.path, vgpu_config_root);
  text_append(to.path, sizeof to.path, "/" VGPU_REGISTRY_DIR "/" VGPU_REGISTER_SOCKET);
  const struct vgpu_register_request request = {.magic = VGPU_REGISTER_MAGIC,
                                                .major = VGPU_ABI_MAJOR,
                                                .minor = VGPU_ABI_MINOR,
                                                .slot = p->slot,
                                                .pid = p->pid,
                                                .start_time = p->start_time};
  enum vgpu_registered registered = exchange(&to, &request);
  say(registered, to.path);
  return registered;
}
