/*
 * Plays looks from a file and writes everything the ledger, the turns and the utilisation say after each, for comparison
 * with the same arithmetic elsewhere, byte for byte. With --models: the table of constants.
 *
 * The file, little-endian, without gaps: model (5 u32: long, leave, back, loss, switch max); then per case: u32 looks (0
 * ends the file), u32 containers (at most 8), u32 processes (at most 8); per look i64 now; per container u8 present, u32 device, u32
 * device_count, u32 share, i64 offset, u64 raw_busy, u8 borrows, u8 latency, u32 permille, i64 bucket; per process u32 state, u64
 * generation, u64 open_since, u32 inflight, u64 head, u32 entries written since, each u32 index, i64 start, u32 length, u32 device.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "refund/next_look.h"
#include "refund/refund.h"
#include "refund/turns.h"
#include "refund/util.h"

enum { MOST_CONTAINERS = 8, MOST_PROCESSES = 8 };

struct container {
  struct refund_look look;
  struct turn_look turn;
  struct util util;
  struct vgpu_usage_slot slots[MOST_PROCESSES];
  struct vgpu_ring rings[MOST_PROCESSES];
};

static FILE *in;

static void get(void *to, size_t bytes) {
  if (fread(to, 1, bytes, in) != bytes) {
    (void)fputs("the file ends too early\n", stderr);
    exit(1);
  }
}

static uint32_t get_u32(void) {
  uint32_t v;
  get(&v, sizeof v);
  return v;
}

static uint64_t get_u64(void) {
  uint64_t v;
  get(&v, sizeof v);
  return v;
}

static bool get_flag(void) {
  unsigned char v;
  get(&v, 1);
  return v != 0;
}

static void put(uint64_t v) { (void)fwrite(&v, 1, sizeof v, stdout); }

static void read_process(struct container *c, uint32_t p) {
  struct vgpu_usage_slot *slot = &c->slots[p];
  struct vgpu_ring *ring = &c->rings[p];
  slot->state = get_u32();
  slot->generation = get_u64();
  slot->open_since_ns = get_u64();
  slot->inflight_us[c->look.device] = get_u32();
  ring->head = get_u64();
  for (uint32_t n = get_u32(); n > 0; n--) {
    struct vgpu_interval *e = &ring->entries[get_u32() % VGPU_RING_ENTRIES];
    e->start_ns = (int64_t)get_u64();
    e->length_us = get_u32();
    e->device = get_u32();
  }
}

static bool read_container(struct container *c, uint32_t index, uint32_t processes) {
  bool present = get_flag();
  c->look.name = c->turn.name = index + 1;
  c->look.device = get_u32() % VGPU_MAX_DEVICES;
  c->look.device_count = get_u32();
  c->look.share_permille = get_u32();
  c->look.offset_ns = (int64_t)get_u64();
  c->look.raw_busy_ns = get_u64();
  c->turn.borrows = get_flag();
  c->turn.latency = get_flag();
  c->turn.permille = get_u32();
  c->turn.bucket_ns = c->look.bucket_ns = (int64_t)get_u64();
  c->look.slot_count = processes;
  c->look.slots = c->slots;
  c->look.rings = c->rings;
  c->turn.working = false;
  for (uint32_t p = 0; p < processes; p++) {
    read_process(c, p);
    c->turn.working = c->turn.working || c->slots[p].open_since_ns != 0;
  }
  return present;
}

static void print_container(const struct refund_card *card, struct container *c, int64_t now_ns) {
  const struct refund_container *k = refund_find(card, c->look.name);
  if (k == NULL) {
    put(UINT64_MAX);
    return;
  }
  put(k->refund_ns);
  put(k->others_active);
  put(k->active);
  put((uint64_t)k->longest_ns[0]);
  put((uint64_t)k->longest_ns[1]);
  put((uint64_t)k->paid_ns);
  put((uint64_t)k->share_ns);
  put(util_look(&c->util, now_ns, c->look.raw_busy_ns, k->refund_ns));
  c->turn.longest_ns = k->longest_ns[0] > k->longest_ns[1] ? k->longest_ns[0] : k->longest_ns[1];
}

static void print_card(const struct refund_card *card) {
  put(card->accepted);
  put(card->settled);
  put(card->refunded_ns);
  put(card->clipped_ns);
  put((uint64_t)card->pot_ns);
  for (int i = 0; i < REFUND_DROPS; i++) put(card->dropped[i]);
}

static void play(const struct gpu_model *model, uint32_t looks, struct refund_card *card, struct container *containers) {
  uint32_t count = get_u32(), processes = get_u32();
  struct turn_card turns = {0};
  if (count > MOST_CONTAINERS || processes > MOST_PROCESSES) exit(1);
  memset(containers, 0, MOST_CONTAINERS * sizeof *containers);
  refund_begin(card, model);
  for (uint32_t i = 0; i < looks; i++) {
    int64_t now_ns = (int64_t)get_u64();
    struct refund_look present[MOST_CONTAINERS];
    struct turn_look turn_looks[MOST_CONTAINERS];
    struct turn given[MOST_CONTAINERS];
    uint32_t n = 0, t = 0;
    for (uint32_t c = 0; c < count; c++) {
      if (read_container(&containers[c], c, processes)) present[n++] = containers[c].look;
    }
    refund_tick(card, present, n, now_ns);
    for (uint32_t c = 0; c < count; c++) {
      print_container(card, &containers[c], now_ns);
      if (refund_find(card, containers[c].look.name) != NULL) turn_looks[t++] = containers[c].turn;
    }
    turn_plan(&turns, turn_looks, t, now_ns, given);
    for (uint32_t c = 0; c < t; c++) {
      put(given[c].period_us);
      put(given[c].offset_us);
      put(given[c].length_us);
    }
    print_card(card);
    put((uint64_t)next_look_ns(card, &turns));
  }
}

static void print_models(void) {
  for (unsigned i = 0; i < gpu_model_count; i++) {
    const struct gpu_model *m = &gpu_models[i];
    (void)printf("%s,%" PRIu32 ",%" PRIu32 ",%" PRIu32 ",%" PRIu32 ",%" PRIu32 "\n", m->name, m->turn_us, m->leave_us,
                 m->back_us, m->shared_loss_permille, m->switch_max_permille);
  }
}

int main(int argc, char **argv) {
  if (argc == 2 && strcmp(argv[1], "--models") == 0) {
    print_models();
    return 0;
  }
  if (argc != 2 || (in = fopen(argv[1], "rbe")) == NULL) {
    (void)fputs("usage: refund-replay FILE | --models\n", stderr);
    return 1;
  }
  struct gpu_model model = {.name = ""};
  model.turn_us = get_u32();
  model.leave_us = get_u32();
  model.back_us = get_u32();
  model.shared_loss_permille = get_u32();
  model.switch_max_permille = get_u32();
  struct refund_card *card = calloc(1, sizeof *card);
  struct container *containers = calloc(MOST_CONTAINERS, sizeof *containers);
  if (card == NULL || containers == NULL) return 1;
  for (uint32_t looks = get_u32(); looks != 0; looks = get_u32()) play(&model, looks, card, containers);
  free(containers);
  free(card);
  (void)fclose(in);
  return fflush(stdout) == 0 ? 0 : 1;
}
