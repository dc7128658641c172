/*
 * The kernel, without libc. A guest in every process must not change errno, must not depend on functions that the
 * program or another guest replaced (open, mmap, malloc), and must load on any glibc. Results are as the kernel gives
 * them: negative errno on failure.
 */
#ifndef VGPU_SYS_H
#define VGPU_SYS_H

#include <asm/unistd.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static inline long sys_call6(long n, long a, long b, long c, long d, long e, long f) {
#if defined(__x86_64__)
  long result;
  register long r10 __asm__("r10") = d;
  register long r8 __asm__("r8") = e;
  register long r9 __asm__("r9") = f;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(n), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                   : "rcx", "r11", "memory");
  return result;
#elif defined(__aarch64__)
  register long x8 __asm__("x8") = n;
  register long x0 __asm__("x0") = a;
  register long x1 __asm__("x1") = b;
  register long x2 __asm__("x2") = c;
  register long x3 __asm__("x3") = d;
  register long x4 __asm__("x4") = e;
  register long x5 __asm__("x5") = f;
  __asm__ volatile("svc #0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5) : "memory");
  return x0;
#else
#error "no system calls for this processor"
#endif
}

static inline int sys_openat(int dir, const char *path, int flags) {
  return (int)sys_call6(__NR_openat, dir, (long)path, flags | O_CLOEXEC, 0, 0, 0);
}
static inline int sys_close(int fd) { return (int)sys_call6(__NR_close, fd, 0, 0, 0, 0, 0); }
static inline long sys_read(int fd, void *to, size_t n) { return sys_call6(__NR_read, fd, (long)to, (long)n, 0, 0, 0); }
static inline long sys_write(int fd, const void *from, size_t n) {
  return sys_call6(__NR_write, fd, (long)from, (long)n, 0, 0, 0);
}
static inline long sys_seek_end(int fd) { return sys_call6(__NR_lseek, fd, 0, 2, 0, 0, 0); }
static inline long sys_getdents(int fd, void *to, size_t n) {
  return sys_call6(__NR_getdents64, fd, (long)to, (long)n, 0, 0, 0);
}
static inline int sys_fstatfs(int fd, void *to) { return (int)sys_call6(__NR_fstatfs, fd, (long)to, 0, 0, 0, 0); }

enum { SYS_PROT_READ = 1, SYS_PROT_WRITE = 2, SYS_MAP_SHARED = 1, SYS_MAP_PRIVATE = 2, SYS_MAP_ANONYMOUS = 0x20 };

/* Null on failure. */
static inline void *sys_mmap(size_t n, int prot, int flags, int fd) {
  long at = sys_call6(__NR_mmap, 0, (long)n, prot, flags, fd, 0);
  return at < 0 && at > -4096 ? NULL : (void *)at;
}
static inline void *sys_pages(size_t n) {
  return sys_mmap(n, SYS_PROT_READ | SYS_PROT_WRITE, SYS_MAP_PRIVATE | SYS_MAP_ANONYMOUS, -1);
}
static inline int sys_munmap(void *at, size_t n) { return (int)sys_call6(__NR_munmap, (long)at, (long)n, 0, 0, 0, 0); }
static inline int sys_madvise(void *at, size_t n, int advice) {
  return (int)sys_call6(__NR_madvise, (long)at, (long)n, advice, 0, 0, 0);
}

static inline int sys_getpid(void) { return (int)sys_call6(__NR_getpid, 0, 0, 0, 0, 0, 0); }
static inline int sys_gettid(void) { return (int)sys_call6(__NR_gettid, 0, 0, 0, 0, 0, 0); }
static inline int sys_tgkill(int pid, int tid, int signal) { return (int)sys_call6(__NR_tgkill, pid, tid, signal, 0, 0, 0); }
static inline int sys_kill(int pid, int signal) { return (int)sys_call6(__NR_kill, pid, signal, 0, 0, 0, 0); }

struct sys_time {
  int64_t seconds;
  int64_t nanoseconds;
};
/* CLOCK_MONOTONIC. A system call: for paths where 100 ns do not matter. */
static inline int64_t sys_monotonic_ns(void) {
  struct sys_time t = {0, 0};
  (void)sys_call6(__NR_clock_gettime, 1, (long)&t, 0, 0, 0, 0);
  return t.seconds * 1000000000 + t.nanoseconds;
}
static inline void sys_sleep_ns(int64_t ns) {
  struct sys_time t = {ns / 1000000000, ns % 1000000000};
  (void)sys_call6(__NR_nanosleep, (long)&t, 0, 0, 0, 0, 0);
}

/* op 0 waits while *word == value, op 1 wakes `value` waiters; both shared between processes. timeout_ns <= 0: none. */
static inline int sys_futex(const volatile uint32_t *word, int op, uint32_t value, int64_t timeout_ns) {
  struct sys_time t = {timeout_ns / 1000000000, timeout_ns % 1000000000};
  return (int)sys_call6(__NR_futex, (long)word, op, value, timeout_ns > 0 ? (long)&t : 0, 0, 0);
}

/* Open-file-description locks on bytes: they belong to the descriptor, not to the process. */
struct sys_flock {
  short type;   /* 1 write, 2 unlock */
  short whence; /* 0 from the start */
  int64_t start;
  int64_t length;
  int pid; /* 0 */
};
enum { SYS_OFD_GETLK = 36, SYS_OFD_SETLK = 37 };
static inline bool sys_lock_byte(int fd, int64_t byte, bool lock) {
  struct sys_flock l = {lock ? 1 : 2, 0, byte, 1, 0};
  return sys_call6(__NR_fcntl, fd, SYS_OFD_SETLK, (long)&l, 0, 0, 0) == 0;
}
/* True if somebody else holds it; also on failure, since a lock that cannot be asked about must count as held. */
static inline bool sys_byte_locked(int fd, int64_t byte) {
  struct sys_flock l = {1, 0, byte, 1, 0};
  return sys_call6(__NR_fcntl, fd, SYS_OFD_GETLK, (long)&l, 0, 0, 0) != 0 || l.type != 2;
}

/* Stream sockets of the file system. No signal comes of a peer that is gone, and no call waits: who must, polls. */
enum { SYS_AF_UNIX = 1, SYS_SOCK_STREAM = 1, SYS_MSG_NOSIGNAL = 0x4000, SYS_POLLIN = 1, SYS_POLLOUT = 4 };
struct sys_unix_address {
  uint16_t family;
  char path[108];
};
struct sys_pollfd {
  int fd;
  short events;
  short revents;
};
static inline int sys_unix_socket(void) {
  return (int)sys_call6(__NR_socket, SYS_AF_UNIX, SYS_SOCK_STREAM | O_NONBLOCK | O_CLOEXEC, 0, 0, 0, 0);
}
static inline int sys_connect(int fd, const struct sys_unix_address *to) {
  return (int)sys_call6(__NR_connect, fd, (long)to, sizeof *to, 0, 0, 0);
}
static inline long sys_send(int fd, const void *from, size_t n) {
  return sys_call6(__NR_sendto, fd, (long)from, (long)n, SYS_MSG_NOSIGNAL, 0, 0);
}
/* 0 when the time is over, -4 when a signal came. */
static inline int sys_poll_one(int fd, short events, int64_t timeout_ns) {
  struct sys_pollfd one = {fd, events, 0};
  struct sys_time t = {timeout_ns / 1000000000, timeout_ns % 1000000000};
  return (int)sys_call6(__NR_ppoll, (long)&one, 1, (long)&t, 0, 0, 0);
}

#endif
