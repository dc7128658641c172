/*
 * fake-gpu: the fake cards from outside, for people and scripts. It reads the shared file, whatever container the programs
 * run in; process ids are those of its own namespace.
 *
 *   fake-gpu [--state FILE] cards          index uuid total used peak busy_ns switch_ns
 *   fake-gpu [--state FILE] processes      card pid state name bytes peak_bytes busy_ns kernels pid_inside
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu_state.h"

static int cards(const struct gpu *g) {
  (void)printf("card uuid total_bytes used_bytes peak_bytes busy_ns switch_ns\n");
  for (uint32_t d = 0; d < g->state->device_count; d++) {
    const struct gpu_device *dev = &g->state->devices[d];
    (void)printf("%u %s %llu %llu %llu %llu %llu\n", d, dev->uuid, (unsigned long long)dev->total,
                 (unsigned long long)gpu_used_by_living(g, d), (unsigned long long)dev->peak, (unsigned long long)dev->busy_ns,
                 (unsigned long long)dev->switch_ns);
  }
  return 0;
}

static int processes(const struct gpu *g) {
  (void)printf("card pid state name bytes peak_bytes busy_ns kernels pid_inside\n");
  for (uint32_t s = 0; s < g->state->process_high && s < GPU_PROCESSES; s++) {
    const struct gpu_process *p = &g->state->processes[s];
    int pid = 0;
    bool alive = p->generation != 0 && gpu_alive(g, s, &pid);
    for (uint32_t d = 0; d < g->state->device_count; d++) {
      const struct gpu_share *share = &p->on[d];
      if (share->peak == 0 && share->busy_ns == 0) continue;
      (void)printf("%u %d %s %.15s %llu %llu %llu %llu %d\n", d, alive ? pid : 0, alive ? "live" : "gone", p->name,
                   alive ? (unsigned long long)share->bytes : 0, (unsigned long long)share->peak,
                   (unsigned long long)share->busy_ns, (unsigned long long)share->kernels, p->pid);
    }
  }
  return 0;
}

int main(int argc, char **argv) {
  const char *path = getenv("FAKE_GPUS_STATE"), *why = NULL;
  struct gpu gpu;
  int at = 1;
  if (argc > 2 && strcmp(argv[1], "--state") == 0) {
    path = argv[2];
    at = 3;
  }
  const char *what = at < argc ? argv[at] : "cards";
  bool known = strcmp(what, "cards") == 0 || strcmp(what, "processes") == 0;
  if (path == NULL || !known || at + 1 < argc) {
    (void)fprintf(stderr, "usage: fake-gpu [--state FILE] cards|processes   (FILE, or FAKE_GPUS_STATE)\n");
    return 1;
  }
  if (gpu_open_reader(&gpu, path, &why)) {
    (void)fprintf(stderr, "fake-gpu: %s: %s\n", path, why);
    return 2;
  }
  return strcmp(what, "cards") == 0 ? cards(&gpu) : processes(&gpu);
}
