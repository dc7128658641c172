/* Limits and the agent's word, turned into the terms of the moment. */
#include "policy.h"

#define LOAD(field) __atomic_load_n(&d->field, __ATOMIC_RELAXED)

struct pace_load pace_load_read(const struct vgpu_load *load, uint32_t device) {
  struct pace_load out = {.known = false};
  if (load == NULL || device >= VGPU_MAX_DEVICES) return out;
  const struct vgpu_load_device *d = &load->devices[device];
  int64_t offset = __atomic_load_n(&load->header.monotonic_offset_ns, __ATOMIC_RELAXED);
  for (int tries = 0; tries < VGPU_SEQLOCK_TRIES; tries++) {
    uint32_t seq = __atomic_load_n(&d->seq, __ATOMIC_ACQUIRE);
    if ((seq & 1) != 0) continue;
    out.seq = seq;
    out.others_active = LOAD(others_active);
    out.sample_ns = (int64_t)(LOAD(sample_ns) + (uint64_t)offset);
    if (LOAD(sample_ns) == 0) out.sample_ns = 0;
    out.refund_ns = LOAD(refund_ns);
    out.turn_period_ns = (int64_t)LOAD(turn_period_us) * 1000;
    out.turn_offset_ns = (int64_t)((uint64_t)LOAD(turn_offset_us) * 1000 + (uint64_t)offset);
    out.turn_length_ns = (int64_t)LOAD(turn_length_us) * 1000;
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    if (__atomic_load_n(&d->seq, __ATOMIC_RELAXED) != seq) continue;
    out.known = true;
    return out;
  }
  return (struct pace_load){.known = false};
}

/* Who has nearly all of the card to himself loses what he cannot queue, and nobody gains it. */
#define ALONE_PERMILLE 950u
#define ALONE_QUEUE_NS (8 * PACE_MS)

/* 0 to 1000: how much of what may be borrowed is. Threads race here, and what they write is the same. */
static int64_t borrowed(struct pace_policy *p, const struct pace_load *load, int64_t now_ns) {
  bool believed = load->known && load->sample_ns != 0 && now_ns - load->sample_ns < PACE_STALE_NS;
  int64_t looked = __atomic_exchange_n(&p->looked_ns, now_ns, __ATOMIC_RELAXED);
  int64_t since = __atomic_load_n(&p->quiet_since_ns, __ATOMIC_RELAXED);
  if (!believed || load->others_active != 0) {
    __atomic_store_n(&p->quiet_since_ns, 0, __ATOMIC_RELAXED);
    return 0;
  }
  /* who has not looked for so long does not know that nobody was there */
  if (since == 0 || now_ns - looked > PACE_QUIET_NS) {
    __atomic_store_n(&p->quiet_since_ns, now_ns, __ATOMIC_RELAXED);
    return 0;
  }
  int64_t ramp = now_ns - since - PACE_QUIET_NS;
  return ramp <= 0 ? 0 : ramp >= PACE_RAMP_NS ? 1000 : ramp * 1000 / PACE_RAMP_NS;
}

static uint32_t between(uint32_t value, uint32_t low, uint32_t high) { return value < low ? low : value > high ? high : value; }

struct pace_terms pace_terms_now(struct pace_policy *p, const struct vgpu_limit *limit, const struct pace_load *load,
                                 int64_t now_ns) {
  struct pace_terms t = {.refunds = true};
  uint32_t hard = between(limit->core_hard_permille, 1, VGPU_PERMILLE_FULL);
  t.permille = hard;
  if ((limit->flags & VGPU_LIMIT_BALANCE) != 0) {
    uint32_t soft = between(limit->core_soft_permille, hard, VGPU_PERMILLE_FULL);
    t.permille = hard + (uint32_t)((int64_t)(soft - hard) * borrowed(p, load, now_ns) / 1000);
  }
  t.queue_ns = t.permille >= ALONE_PERMILLE && load->known && load->others_active == 0 ? ALONE_QUEUE_NS : 0;
  t.unlimited = (limit->flags & VGPU_LIMIT_COMPUTE) == 0 || hard == VGPU_PERMILLE_FULL;

  /* a neighbour's turns come in lumps: who cannot save up over them never gets his share */
  int64_t burst_ns = (int64_t)(limit->burst_us != 0 ? limit->burst_us : VGPU_DEFAULT_BURST_US) * 1000;
  if (load->known && load->others_active != 0 && burst_ns < 150 * PACE_MS) burst_ns = 150 * PACE_MS;
  if (burst_ns > 10 * PACE_S) burst_ns = 10 * PACE_S;
  t.cap_ns = burst_ns * t.permille / VGPU_PERMILLE_FULL;
  if (t.cap_ns < 2 * PACE_MS) t.cap_ns = 2 * PACE_MS;

  uint32_t stall_ms = between(limit->max_stall_ms != 0 ? limit->max_stall_ms : VGPU_DEFAULT_MAX_STALL_MS, 1, 60000);
  t.max_stall_ns = stall_ms * PACE_MS;
  t.debt_ns = t.max_stall_ns * t.permille / VGPU_PERMILLE_FULL;
  uint32_t runahead_us = between(limit->runahead_us != 0 ? limit->runahead_us : VGPU_DEFAULT_RUNAHEAD_US, 100, 20000);
  t.runahead_ns = (int64_t)runahead_us * 1000;
  return t;
}
