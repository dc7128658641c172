/*
 * Plays the library of a process under vgpu-run: posts slices into its ring without a GPU.
 *   brief   a slice of 0.74 ms every 3 ms
 *   slow    one slice after the other, each 10 ms, so that the brief ones are inside; a line on stdout each time that load
 *           gives something back
 *   asleep  sleeps on load's word, and says what it was woken for
 */
#include <fcntl.h>
#include <linux/futex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "vgpu/abi.h"

static struct vgpu_usage *usage;
static const struct vgpu_load *load;

static void *map(const char *file, size_t bytes, int how) {
  char path[512];
  const char *directory = getenv("CUDA_SHIM_CONFIG_DIR");
  (void)snprintf(path, sizeof path, "%s/%s", directory == NULL ? "" : directory, file);
  int fd = open(path, how == PROT_READ ? O_RDONLY : O_RDWR);
  void *at = fd < 0 ? MAP_FAILED : mmap(NULL, bytes, how, MAP_SHARED, fd, 0);
  if (at == MAP_FAILED) {
    perror(path);
    exit(1);
  }
  (void)close(fd);
  return at;
}

static int64_t now_ns(void) {
  struct timespec t;
  (void)clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void nap(int64_t ns) {
  struct timespec t = {0, (long)ns};
  (void)nanosleep(&t, NULL);
}

static void post(int64_t start, int64_t end) {
  struct vgpu_ring *r = &usage->rings[0];
  struct vgpu_interval e = {start, (uint32_t)((end - start) / 1000), 0};
  __atomic_fetch_add(&usage->devices[0].raw_busy_ns, (uint64_t)(end - start), __ATOMIC_RELAXED);
  r->entries[r->head % VGPU_RING_ENTRIES] = e;
  __atomic_store_n(&r->head, r->head + 1, __ATOMIC_RELEASE);
}

static void brief(int64_t until) {
  while (now_ns() < until) {
    nap(3000000);
    int64_t now = now_ns();
    post(now - 740000, now);
  }
}

static void slow(int64_t until) {
  int64_t start = now_ns();
  uint64_t seen = 0;
  while (now_ns() < until) {
    nap(10000000);
    int64_t end = now_ns();
    post(start, end);
    start = end;
    uint64_t refund = __atomic_load_n(&load->devices[0].refund_ns, __ATOMIC_RELAXED);
    if (refund != seen) (void)printf("refund %llu\n", (unsigned long long)refund);
    seen = refund;
  }
}

static void asleep(int64_t until) {
  const uint32_t *word = &load->devices[0].seq;
  while (now_ns() < until) {
    uint32_t value = __atomic_load_n(word, __ATOMIC_ACQUIRE);
    struct timespec t = {1, 0};
    if (syscall(SYS_futex, word, FUTEX_WAIT, value, &t, NULL, 0) == 0) {
      (void)printf("woken, others %u\n", __atomic_load_n(&load->devices[0].others_active, __ATOMIC_RELAXED));
    }
  }
}

int main(int argc, char **argv) {
  if (argc != 3) return 2;
  (void)setvbuf(stdout, NULL, _IOLBF, 0);
  usage = map(VGPU_USAGE_FILE, sizeof *usage, PROT_READ | PROT_WRITE);
  load = map(VGPU_LOAD_FILE, sizeof *load, PROT_READ);
  usage->slots[0].state = VGPU_SLOT_LIVE;
  usage->header.slot_high_water = 1;
  int64_t until = now_ns() + atoi(argv[2]) * INT64_C(1000000000);
  if (strcmp(argv[1], "brief") == 0) brief(until);
  if (strcmp(argv[1], "slow") == 0) slow(until);
  if (strcmp(argv[1], "asleep") == 0) asleep(until);
  return 0;
}
