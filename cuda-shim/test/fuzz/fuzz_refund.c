/*
 * Whatever tenants write into slots, rings and counters, the ledger ends in time, within its bounds, and gives an honest
 * container nothing but what it posted and was charged for.
 */
#include "fuzz.h"
#include "refund/refund.h"

enum { CONTAINERS = 3, PROCESSES = 4, LOOKS = 60 };

static struct vgpu_usage_slot slots[CONTAINERS][PROCESSES];
static struct vgpu_ring rings[CONTAINERS][PROCESSES];
static struct refund_look looks[CONTAINERS];

/* Most of it plausible, so that mutations reach what lies behind the first checks. */
static void post(struct fuzz *f, int64_t now_ns) {
  for (uint32_t c = 0; c < CONTAINERS; c++) {
    for (uint32_t p = 0; p < PROCESSES; p++) {
      if (fuzz_below(f, 3) == 0) continue;
      uint32_t length_us = (uint32_t)fuzz_below(f, fuzz_below(f, 2) == 0 ? 2500 : 60000) + 1;
      struct vgpu_ring *r = &rings[c][p];
      r->entries[r->head % VGPU_RING_ENTRIES] = (struct vgpu_interval){
          now_ns - (int64_t)length_us * 1000 - (int64_t)fuzz_below(f, 3000000), length_us, (uint32_t)fuzz_below(f, 2)};
      r->head++;
      looks[c].raw_busy_ns += (uint64_t)length_us * 1000;
      slots[c][p].state = VGPU_SLOT_LIVE;
      slots[c][p].open_since_ns = fuzz_below(f, 2) == 0 ? 0 : (uint64_t)now_ns - fuzz_below(f, 100000000);
    }
  }
}

static uint64_t unsettled[REFUND_CONTAINERS][VGPU_RING_SLOTS];

/* What was settled since `unsettled` was noted. */
static int64_t settled_ns(const struct refund_card *card) {
  int64_t sum = 0;
  for (uint32_t c = 0; c < REFUND_CONTAINERS; c++) {
    for (uint32_t p = 0; p < VGPU_RING_SLOTS; p++) {
      const struct refund_process *k = &card->containers[c].processes[p];
      for (uint64_t n = unsettled[c][p]; n < k->unsettled; n++) {
        const struct refund_span *s = &k->history.spans[n % REFUND_HISTORY];
        if (s->end - s->start > refund_least_ns(card->model)) sum += s->end - s->start;
      }
    }
  }
  return sum;
}

static void note_unsettled(const struct refund_card *card) {
  for (uint32_t c = 0; c < REFUND_CONTAINERS; c++) {
    for (uint32_t p = 0; p < VGPU_RING_SLOTS; p++) unsettled[c][p] = card->containers[c].processes[p].unsettled;
  }
}

static uint64_t settled;

static uint64_t block(struct fuzz *f) {
  static struct refund_card *card;
  if (card == NULL) card = calloc(1, sizeof *card);
  if (card == NULL) exit(2);
  memset(slots, 0, sizeof slots);
  memset(rings, 0, sizeof rings);
  refund_begin(card, gpu_model_of(NULL));
  int64_t now_ns = (int64_t)(1 + fuzz_below(f, 1u << 30)) * 1000000;
  for (uint32_t c = 0; c < CONTAINERS; c++) {
    looks[c] = (struct refund_look){.name = c + 1,
                                    .device_count = 1 + (uint32_t)fuzz_below(f, 2),
                                    .share_permille = (uint32_t)fuzz_below(f, 1001),
                                    .slot_count = PROCESSES,
                                    .slots = slots[c],
                                    .rings = rings[c]};
  }
  for (int look = 0; look < LOOKS; look++) {
    now_ns += (int64_t)fuzz_below(f, 20000000);
    post(f, now_ns);
    if (fuzz_below(f, 3) != 0) { /* the first container stays honest, apart from what the times are */
      fuzz_mutate(f, (unsigned char *)rings[1], sizeof rings[1]);
      fuzz_mutate(f, (unsigned char *)slots[2], sizeof slots[2]);
      uint64_t raw[3] = {looks[2].raw_busy_ns, 0, 0};
      fuzz_mutate(f, (unsigned char *)raw, sizeof raw);
      looks[2].raw_busy_ns = raw[0];
    }
    uint64_t before[CONTAINERS] = {0};
    for (uint32_t c = 0; c < CONTAINERS; c++) {
      const struct refund_container *k = refund_find(card, c + 1);
      before[c] = k == NULL ? 0 : k->refund_ns;
    }
    uint64_t refunded = card->refunded_ns;
    note_unsettled(card);
    refund_tick(card, looks, CONTAINERS, now_ns);
    if ((int64_t)(card->refunded_ns - refunded) > settled_ns(card) * REFUND_MOST_PERCENT / 100)
      fuzz_wrong("more refunded than settled");
    for (uint32_t c = 0; c < CONTAINERS; c++) {
      const struct refund_container *k = refund_find(card, c + 1);
      if (k == NULL || k->refund_ns < before[c]) fuzz_wrong("a refund taken back");
      if (k->others_active > CONTAINERS * PROCESSES) fuzz_wrong("more active than there are");
    }
    if (refund_find(card, 1)->refund_ns > looks[0].raw_busy_ns / 100 * 95 + 100000000) fuzz_wrong("more refunded than charged");
    if (card->pot_ns > REFUND_POT_NS || card->pot_ns < -REFUND_POT_NS) fuzz_wrong("the pot is out of bounds");
  }
  settled += card->settled;
  return LOOKS;
}

static const char *wrong(uint64_t rounds) {
  (void)rounds;
  return settled > 0 ? NULL : "nothing was ever settled";
}

int main(int argc, char **argv) {
  return fuzz_main(argc, argv, &(struct fuzz_target){.rounds = 60000, .block = block, .wrong = wrong});
}
