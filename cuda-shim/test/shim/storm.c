/*
 * The promise about memory, put to the test: whatever processes do, and however they die, what the card has given never
 * exceeds the limit.   storm PROCESSES SECONDS [KILLS_PER_SECOND]
 *
 * The card is a word of each process in shared memory, what the driver's model has given it; their sum is taken at each
 * allocation. A parent kills processes at any point. The program fails if the sum was ever above the limit, and also if it
 * never came near: then it showed nothing.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../unit/check.h"
#include "../unit/draws.h"
#include "hooks.h"
#include "ledger.h"
#include "model.h"

enum { MOST = 128, LIMIT_MIB = 512 };

static struct shared {
  _Atomic int64_t held[MOST]; /* on the card, by each process */
  _Atomic int64_t most;
  _Atomic uint64_t granted, refused;
} * card;
static int me;

/* The sum of a moment: taken twice until both agree, since a sum over words that change is of no moment at all. */
static int64_t sum_now(void) {
  int64_t first[MOST], sum = 0;
  for (int i = 0; i < MOST; i++) sum += first[i] = atomic_load(&card->held[i]);
  for (int i = 0; i < MOST; i++) {
    if (atomic_load(&card->held[i]) != first[i]) return -1;
  }
  return sum;
}

/* One word a process: who is killed in the middle leaves nothing half done. */
static void on_card(int64_t bytes) {
  atomic_fetch_add(&card->held[me], bytes);
  int64_t now = -1, most = atomic_load(&card->most);
  for (int tries = 0; tries < 100 && now < 0; tries++) now = sum_now();
  while (now > most && !atomic_compare_exchange_weak(&card->most, &most, now)) continue;
}

static CUresult (*plain_alloc)(CUdeviceptr *, size_t);
static CUresult (*plain_free)(CUdeviceptr);
static uint64_t sizes[4096];

static CUresult counted_alloc(CUdeviceptr *at, size_t size) {
  CUresult result = plain_alloc(at, size);
  if (result == CUDA_SUCCESS) on_card((int64_t)size);
  return result;
}

static CUresult counted_free(CUdeviceptr at) {
  CUresult result = plain_free(at);
  if (result == CUDA_SUCCESS) on_card(-(int64_t)sizes[at >> 20 & 4095]);
  return result;
}

static void tenant(int index, uint64_t seed) {
  uint64_t state = seed;
  CUdeviceptr mine[16] = {0};
  me = index;
  model_begin(1 << 20);
  struct vgpu_cuda *table = (struct vgpu_cuda *)(uintptr_t)vgpu_driver();
  plain_alloc = table->cuMemAlloc_v2;
  plain_free = table->cuMemFree_v2;
  table->cuMemAlloc_v2 = counted_alloc;
  table->cuMemFree_v2 = counted_free;
  library_forget();
  if (vgpu_on_cuInit(0) != CUDA_SUCCESS) _exit(3);
  for (;;) {
    uint64_t i = draws_below(&state, 16);
    if (mine[i] != 0) {
      if (vgpu_on_cuMemFree_v2(mine[i]) != CUDA_SUCCESS) _exit(4);
      mine[i] = 0;
      continue;
    }
    uint64_t size = (1 + draws_below(&state, 64)) * MODEL_MIB;
    CUresult result = vgpu_on_cuMemAlloc_v2(&mine[i], size);
    if (result == CUDA_SUCCESS) {
      sizes[mine[i] >> 20 & 4095] = size;
      atomic_fetch_add(&card->granted, 1);
    } else {
      if (result != CUDA_ERROR_OUT_OF_MEMORY) _exit(5);
      mine[i] = 0;
      atomic_fetch_add(&card->refused, 1);
    }
  }
}

static pid_t start(int index, uint64_t seed) {
  pid_t pid = fork();
  if (pid == 0) tenant(index, seed);
  return pid;
}

/* Stopped at any point, taken off the card, then killed: a driver too frees what a process held before it can be seen dead. */
static void kill_off(pid_t pid, int index) {
  siginfo_t info;
  (void)kill(pid, SIGSTOP);
  (void)waitid(P_PID, (id_t)pid, &info, WSTOPPED | WEXITED | WNOWAIT);
  CHECK_EQ(info.si_code, CLD_STOPPED, "it had ended by itself");
  atomic_store(&card->held[index], 0);
  (void)kill(pid, SIGKILL);
  (void)waitpid(pid, NULL, 0);
}

static int64_t now_ms(void) {
  struct timespec t;
  (void)clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

int main(int argc, char **argv) {
  int processes = argc > 1 ? atoi(argv[1]) : 16, seconds = argc > 2 ? atoi(argv[2]) : 3, kills = argc > 3 ? atoi(argv[3]) : 20;
  uint64_t state = 1;
  card = mmap(NULL, sizeof *card, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (card == MAP_FAILED || processes < 1 || processes > MOST) return 2;
  model_begin(1 << 20);
  regions_begin(LIMIT_MIB, VGPU_LIMIT_MEMORY);
  pid_t pids[MOST];
  for (int i = 0; i < processes; i++) pids[i] = start(i, draws_next(&state));
  int64_t end = now_ms() + seconds * 1000;
  uint64_t died = 0;
  while (now_ms() < end) {
    struct timespec pause = {0, 1000000000 / (kills > 0 ? kills : 1000)};
    (void)nanosleep(&pause, NULL);
    if (kills == 0) continue;
    int i = (int)draws_below(&state, (uint64_t)processes);
    kill_off(pids[i], i);
    died++;
    pids[i] = start(i, draws_next(&state));
  }
  for (int i = 0; i < processes; i++) {
    kill_off(pids[i], i);
  }
  double most = (double)card->most / (double)MODEL_MIB;
  (void)printf("%d processes, %llu killed: most on the card %.1f of %d MiB, %llu granted, %llu refused\n", processes,
               (unsigned long long)died, most, LIMIT_MIB, (unsigned long long)card->granted, (unsigned long long)card->refused);
  CHECK(most <= LIMIT_MIB, "more than the limit was given: %.1f MiB", most);
  CHECK(most > LIMIT_MIB / 2, "never came near the limit: this shows nothing");
  CHECK(card->refused > 100, "hardly anything was refused: this shows nothing");
  return check_result();
}
