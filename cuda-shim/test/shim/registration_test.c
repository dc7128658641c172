/*
 * Registration is a courtesy: with every kind of agent, and with none, the process goes on as if it had not been asked
 * (node-agent.md 13, 35).
 */
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../unit/check.h"
#include "hooks.h"
#include "ledger.h"
#include "model.h"
#include "registration.h"
#include "sys.h"

static char root[] = "/tmp/shim-registry-XXXXXX", directory[64], path[80];

static void begin(void) {
  model_begin(1024);
  regions_begin(256, VGPU_LIMIT_MEMORY);
}

static int descriptors(void) {
  int n = 0;
  DIR *d = opendir("/proc/self/fd");
  if (d == NULL) abort();
  while (readdir(d) != NULL) n++;
  (void)closedir(d);
  return n;
}

/* A fresh process's registration, and its result asked for again. */
static enum vgpu_registered once(void) {
  begin();
  CHECK_EQ(vgpu_on_cuInit(0), CUDA_SUCCESS, "the process goes on");
  return vgpu_register(vgpu_shared(), vgpu_process_claimed());
}

/* ---- agents */

struct agent {
  int listener;
  pthread_t thread;
  atomic_bool over;
  void (*serve)(int fd);
};

static int listen_at(const char *at, int backlog) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  (void)snprintf(address.sun_path, sizeof address.sun_path, "%s", at);
  int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0 || bind(fd, (const struct sockaddr *)&address, sizeof address) != 0 || listen(fd, backlog) != 0) abort();
  return fd;
}

static void *serve_all(void *self) {
  struct agent *a = self;
  for (;;) {
    int fd = accept4(a->listener, NULL, NULL, SOCK_CLOEXEC);
    if (fd < 0) return NULL; /* it was shut down */
    a->serve(fd);
    (void)close(fd);
  }
}

static void agent_begin(struct agent *a, void (*serve)(int fd)) {
  a->listener = listen_at(path, 64);
  a->serve = serve;
  if (pthread_create(&a->thread, NULL, serve_all, a) != 0) abort();
}

static void agent_end(struct agent *a) {
  (void)shutdown(a->listener, SHUT_RDWR);
  (void)pthread_join(a->thread, NULL);
  (void)close(a->listener);
  (void)unlink(path);
}

static bool receive(int fd, struct vgpu_register_request *request) {
  size_t got = 0;
  while (got < sizeof *request) {
    ssize_t n = recv(fd, (char *)request + got, sizeof *request - got, 0);
    if (n <= 0) return false;
    got += (size_t)n;
  }
  return true;
}

static void answer(int fd, const void *bytes, size_t n) { (void)!send(fd, bytes, n, MSG_NOSIGNAL); }

static struct vgpu_register_request received;
static struct ucred peer;
static atomic_int served;

static void say_ok(int fd) {
  struct vgpu_register_reply ok = {VGPU_REGISTER_MAGIC, VGPU_REGISTER_OK};
  socklen_t size = sizeof peer;
  if (!receive(fd, &received) || getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return;
  atomic_fetch_add(&served, 1); /* before the answer: who has that may look */
  answer(fd, &ok, sizeof ok);
}

static void say_no(int fd) {
  struct vgpu_register_reply no = {VGPU_REGISTER_MAGIC, VGPU_REGISTER_REFUSED};
  if (receive(fd, &received)) answer(fd, &no, sizeof no);
}

static void say_rubbish(int fd) {
  if (receive(fd, &received)) answer(fd, "HTTP/1.1 400 Bad Request\r\n\r\n", 28);
}

static void say_ok_as_another(int fd) {
  struct vgpu_register_reply odd = {VGPU_REGISTER_MAGIC + 1, VGPU_REGISTER_OK};
  if (receive(fd, &received)) answer(fd, &odd, sizeof odd);
}

static void say_an_unknown_status(int fd) {
  struct vgpu_register_reply odd = {VGPU_REGISTER_MAGIC, 77};
  if (receive(fd, &received)) answer(fd, &odd, sizeof odd);
}

static void say_half(int fd) {
  if (receive(fd, &received)) answer(fd, "VREG", 4);
}

static void say_byte_by_byte(int fd) {
  struct vgpu_register_reply ok = {VGPU_REGISTER_MAGIC, VGPU_REGISTER_OK};
  if (!receive(fd, &received)) return;
  for (size_t i = 0; i < sizeof ok; i++) answer(fd, (const char *)&ok + i, 1);
}

static void hang_up(int fd) { (void)shutdown(fd, SHUT_RDWR); }

/* Answers when the process has gone on, which it must do by itself. */
static atomic_bool gone_on;
static void say_nothing(int fd) {
  char byte;
  while (!atomic_load(&gone_on) && recv(fd, &byte, 1, 0) > 0) {
  }
}

/* ---- what is promised */

static void what_is_sent_is_the_slot_and_the_kernel_says_who(void) {
  struct agent a;
  agent_begin(&a, say_ok);
  begin();
  CHECK_EQ(vgpu_on_cuInit(0), CUDA_SUCCESS, "cuInit");
  CHECK_EQ(atomic_load(&served), 1, "registered once by the start of CUDA");
  bool zombie;
  CHECK_EQ(received.magic, VGPU_REGISTER_MAGIC, "magic");
  CHECK_EQ(received.major, VGPU_ABI_MAJOR, "major");
  CHECK_EQ(received.minor, VGPU_ABI_MINOR, "minor");
  CHECK_EQ(received.slot, vgpu_process_claimed()->slot, "slot");
  CHECK_EQ(received.pid, getpid(), "pid");
  CHECK_EQ(received.start_time, vgpu_start_time(getpid(), &zombie), "start");
  CHECK_EQ(peer.pid, getpid(), "credentials");
  CUdeviceptr at;
  CHECK_EQ(vgpu_on_cuMemAlloc_v2(&at, MODEL_MIB), CUDA_SUCCESS, "works");
  CHECK_EQ(vgpu_on_cuInit(0), CUDA_SUCCESS, "again");
  CHECK_EQ(atomic_load(&served), 1, "and never again");
  agent_end(&a);
}

static void a_forked_child_registers_itself(void) {
  struct agent a;
  agent_begin(&a, say_ok);
  begin();
  int before = atomic_load(&served);
  CHECK_EQ(vgpu_on_cuInit(0), CUDA_SUCCESS, "parent");
  pid_t pid = fork();
  if (pid == 0) _exit(vgpu_on_cuInit(0) == CUDA_SUCCESS ? 0 : 1);
  int status;
  (void)waitpid(pid, &status, 0);
  CHECK_EQ(status, 0, "child");
  CHECK_EQ(atomic_load(&served), before + 2, "parent and child");
  CHECK_EQ(received.pid, pid, "the child's");
  CHECK_EQ(received.slot, 1, "its own slot");
  CHECK_EQ(peer.pid, pid, "credentials");
  agent_end(&a);
}

static void without_an_agent_nothing_is_missing(void) {
  CHECK_EQ(once(), VGPU_REGISTRATION_NONE, "no directory");
  (void)mkdir(directory, 0711);
  CHECK_EQ(once(), VGPU_REGISTRATION_NONE, "no socket");
  (void)close(listen_at(path, 1));
  CHECK_EQ(once(), VGPU_REGISTRATION_NONE, "a socket that an agent left");
  (void)unlink(path);
  int fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0666);
  (void)close(fd);
  CHECK_EQ(once(), VGPU_REGISTRATION_NONE, "replaced by a file");
  (void)unlink(path);
  (void)mkdir(path, 0700);
  CHECK_EQ(once(), VGPU_REGISTRATION_NONE, "by a directory");
  (void)rmdir(path);
  (void)mkfifo(path, 0666);
  CHECK_EQ(once(), VGPU_REGISTRATION_NONE, "by a FIFO, whose opening would wait");
  (void)unlink(path);
  CHECK_EQ(symlink(path, path), 0, "loop");
  CHECK_EQ(once(), VGPU_REGISTRATION_NONE, "by a link to itself");
  (void)unlink(path);
}

static void an_agent_that_never_answers_is_left(void) {
  struct agent a;
  atomic_store(&gone_on, false);
  agent_begin(&a, say_nothing);
  CHECK_EQ(once(), VGPU_REGISTRATION_LATE, "silent");
  atomic_store(&gone_on, true);
  agent_end(&a);
  int listener = listen_at(path, 0); /* accepts nobody; its queue is soon full */
  enum vgpu_registered last = VGPU_REGISTERED;
  for (int i = 0; i < 3; i++) {
    last = once();
    CHECK_EQ(last, VGPU_REGISTRATION_LATE, "not accepted");
  }
  (void)close(listener);
  (void)unlink(path);
}

/* Signals of the program's own do not end the waiting early. */
static void nothing(int signal) { (void)signal; }

struct waiter {
  pthread_t thread;
  int fd;
};

static void *answer_after_signals(void *to) {
  const struct waiter *w = to;
  struct vgpu_register_reply ok = {VGPU_REGISTER_MAGIC, VGPU_REGISTER_OK};
  for (int i = 0; i < 5; i++) {
    sys_sleep_ns(10000000); /* so that it waits again; if it does not yet, the signal only comes too early */
    (void)pthread_kill(w->thread, SIGALRM);
  }
  answer(w->fd, &ok, sizeof ok);
  return NULL;
}

static void signals_do_not_end_the_waiting(void) {
  int pair[2];
  struct vgpu_register_request request = {.magic = VGPU_REGISTER_MAGIC};
  struct sigaction action = {.sa_handler = nothing};
  (void)sigaction(SIGALRM, &action, NULL);
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair) != 0) abort();
  struct waiter self = {pthread_self(), pair[1]};
  pthread_t thread;
  if (pthread_create(&thread, NULL, answer_after_signals, &self) != 0) abort();
  CHECK_EQ(vgpu_register_on(pair[0], &request, sys_monotonic_ns() + 30 * (int64_t)1000000000), VGPU_REGISTERED, "interrupted");
  (void)pthread_join(thread, NULL);
  (void)close(pair[0]);
  (void)close(pair[1]);
}

static void an_agent_that_answers_anything_else_is_not_believed(void) {
  static const struct {
    void (*serve)(int fd);
    enum vgpu_registered result;
    const char *what;
  } agents[] = {{say_ok, VGPU_REGISTERED, "ok"},
                {say_byte_by_byte, VGPU_REGISTERED, "byte by byte"},
                {say_no, VGPU_REGISTRATION_REFUSED, "no"},
                {say_rubbish, VGPU_REGISTRATION_RUBBISH, "rubbish"},
                {say_an_unknown_status, VGPU_REGISTRATION_RUBBISH, "unknown status"},
                {say_ok_as_another, VGPU_REGISTRATION_RUBBISH, "another protocol's ok"},
                {say_half, VGPU_REGISTRATION_NONE, "half an answer"}};
  for (size_t i = 0; i < sizeof agents / sizeof *agents; i++) {
    struct agent a;
    agent_begin(&a, agents[i].serve);
    begin();
    CHECK_EQ(vgpu_on_cuInit(0), CUDA_SUCCESS, agents[i].what);
    CHECK_EQ(vgpu_register(vgpu_shared(), vgpu_process_claimed()), agents[i].result, agents[i].what);
    agent_end(&a);
  }
}

/* To write to who has closed is SIGPIPE, which ends a program, unless it is asked not to be. */
static void an_agent_that_hangs_up_sends_no_signal(void) {
  int pair[2];
  struct vgpu_register_request request = {.magic = VGPU_REGISTER_MAGIC};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair) != 0) abort();
  (void)close(pair[1]);
  CHECK_EQ(vgpu_register_on(pair[0], &request, sys_monotonic_ns() + 1000000000), VGPU_REGISTRATION_NONE, "closed");
  (void)close(pair[0]);
  struct agent a;
  agent_begin(&a, hang_up);
  for (int i = 0; i < 100; i++) CHECK_EQ(once(), VGPU_REGISTRATION_NONE, "hung up");
  agent_end(&a);
}

static void a_thousand_registrations_leave_nothing(void) {
  struct agent a;
  agent_begin(&a, say_ok);
  atomic_store(&served, 0);
  begin();
  const struct vgpu_process *p = vgpu_process();
  int registered = 0;
  for (int i = 0; i < 1000; i++) registered += vgpu_register(vgpu_shared(), p) == VGPU_REGISTERED;
  /* a machine that has no time for the agent may leave one late, never lose one that was answered */
  CHECK(registered > 900 && atomic_load(&served) >= registered, "%d of %d", registered, atomic_load(&served));
  agent_end(&a);
}

static void *claim(void *unused) {
  (void)unused;
  return vgpu_process();
}

static void threads_that_start_at_once_register_once(void) {
  struct agent a;
  agent_begin(&a, say_ok);
  begin();
  atomic_store(&served, 0);
  pthread_t threads[8];
  for (int i = 0; i < 8; i++) {
    if (pthread_create(&threads[i], NULL, claim, NULL) != 0) abort();
  }
  for (int i = 0; i < 8; i++) {
    void *claimed = NULL;
    (void)pthread_join(threads[i], &claimed);
    CHECK(claimed != NULL, "thread %d", i);
  }
  CHECK_EQ(atomic_load(&served), 1, "one process");
  agent_end(&a);
}

static void limits_of_the_environment_register_nowhere(void) {
  struct agent a;
  agent_begin(&a, say_ok);
  atomic_store(&served, 0);
  begin();
  (void)unsetenv("CUDA_SHIM_CONFIG_DIR");
  (void)setenv("CUDA_MEM_LIMIT_0", "100m", 1);
  library_forget();
  CHECK_EQ(vgpu_on_cuInit(0), CUDA_SUCCESS, "cuInit");
  CHECK(vgpu_shared()->own != NULL, "of its own");
  CHECK_EQ(atomic_load(&served), 0, "registered");
  (void)unsetenv("CUDA_MEM_LIMIT_0");
  (void)setenv("CUDA_SHIM_CONFIG_DIR", regions.directory, 1);
  agent_end(&a);
}

/* Nothing stays open, whatever the agent did. The agent's own threads are over when it is counted. */
static void leaves_nothing(void (*promise)(void)) {
  library_forget();
  int before = descriptors();
  promise();
  library_forget();
  CHECK_EQ(descriptors(), before, "descriptors");
}

int main(void) {
  if (mkdtemp(root) == NULL) abort();
  (void)snprintf(directory, sizeof directory, "%s/registry", root);
  (void)snprintf(path, sizeof path, "%s/shim.sock", directory);
  vgpu_config_root = root;
  leaves_nothing(without_an_agent_nothing_is_missing);
  leaves_nothing(what_is_sent_is_the_slot_and_the_kernel_says_who);
  leaves_nothing(a_forked_child_registers_itself);
  leaves_nothing(an_agent_that_never_answers_is_left);
  leaves_nothing(signals_do_not_end_the_waiting);
  leaves_nothing(an_agent_that_answers_anything_else_is_not_believed);
  leaves_nothing(an_agent_that_hangs_up_sends_no_signal);
  leaves_nothing(a_thousand_registrations_leave_nothing);
  leaves_nothing(threads_that_start_at_once_register_once);
  leaves_nothing(limits_of_the_environment_register_nowhere);
  (void)rmdir(directory);
  (void)rmdir(root);
  return check_result();
}
