/* The fake NVML's look at the programs on the fake driver. Read only: it takes no lock and changes nothing. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "fake.h"
#include "gpu/gpu_state.h"

/* NVML itself names no window; cards of these generations average over a second or less. */
enum { WINDOW_NS = 500000000 };

static char path[4096];
static struct gpu gpu;
static uint64_t inode; /* of the mapped file: a test may have put another one there */

void cards_open(const char *profile_path) {
  if (!gpu_state_path(profile_path, path, sizeof path)) path[0] = '\0';
}

/* The mapping, made when the file appears; null without one. */
static const struct gpu *cards(void) {
  struct stat st;
  const char *why = NULL;
  if (path[0] == '\0' || stat(path, &st) != 0 || st.st_size == 0) return NULL;
  if (gpu.state != NULL && inode == (uint64_t)st.st_ino) return &gpu;
  gpu.state = NULL; /* the old mapping and descriptor stay: closing could drop a slot of this process */
  if (gpu_open_reader(&gpu, path, &why)) return NULL;
  inode = (uint64_t)st.st_ino;
  return &gpu;
}

/* The state file numbers the cards as its maker's profile did; the uuid says which is meant. */
static bool card_number(const struct gpu *g, int device, uint32_t *out) {
  for (uint32_t d = 0; d < g->state->device_count; d++) {
    if (strcmp(g->state->devices[d].uuid, fake.profile.devices[device].uuid) != 0) continue;
    *out = d;
    return true;
  }
  return false;
}

uint64_t cards_used(int device) {
  const struct gpu *g = cards();
  uint32_t card = 0;
  return g == NULL || !card_number(g, device, &card) ? 0 : gpu_used_by_living(g, card);
}

int cards_processes(int device, struct cards_process *out, int room) {
  const struct gpu *g = cards();
  uint32_t card = 0;
  int n = 0;
  if (g == NULL || !card_number(g, device, &card)) return 0;
  for (uint32_t s = 0; s < g->state->process_high && s < GPU_PROCESSES && n < room; s++) {
    const struct gpu_share *share = &g->state->processes[s].on[card];
    int pid = 0;
    if (share->contexts == 0 || !gpu_alive(g, s, &pid) || pid == 0) continue;
    out[n++] = (struct cards_process){(unsigned)pid, share->bytes};
  }
  return n;
}

unsigned cards_busy_percent(int device) {
  const struct gpu *g = cards();
  uint32_t card = 0;
  if (g == NULL || !card_number(g, device, &card)) return 0;
  return gpu_busy_permille(g, card, gpu_clock_ns(), WINDOW_NS) / 10;
}
