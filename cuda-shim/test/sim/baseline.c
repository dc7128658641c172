/* Block tokens steered by NVML's figure, after the published formulas. A reading of them, in this model: no measurement. */
#include "sim.h"

enum { THREADS_PER_SM = 2048 };

void baseline_begin(struct baseline *b, bool aimd, int limit_percent, int sms) {
  b->pool = (double)THREADS_PER_SM * sms * 32;
  b->tokens = 0;
  b->share = 0;
  b->limit = limit_percent;
  b->sms = sms;
  b->cooldown = 0;
  b->aimd = aimd;
}

static double between(double value, double low, double high) { return value < low ? low : value > high ? high : value; }

static void delta(struct baseline *b, double u) {
  double limit = b->limit, d = u < limit ? limit - u : u - limit;
  double step = (double)b->sms * b->sms * THREADS_PER_SM * (d > 5 ? d : 5) / 2560;
  if (d / limit > 0.5) step *= 2 * d / (limit + 1);
  b->share = u < limit ? between(b->share + step, 0, b->pool) : between(b->share - step, 0, b->pool);
  double floor = b->pool * d / (64 * limit);
  if (u < limit && b->share < floor) b->share = floor;
}

static void aimd(struct baseline *b, double u) {
  double goal = 0.875 * b->limit, gap = goal > u ? goal - u : 0;
  double least = (double)b->sms * THREADS_PER_SM * 3 * goal / 400, step = least * (gap > 5 ? gap : 5) / 5;
  if (b->cooldown > 0) {
    b->cooldown--;
  } else if (u > goal) {
    b->share -= b->share / 3;
    b->cooldown = 3;
  } else if (u < 0.8 * goal) {
    b->share += step;
  }
  b->share = between(b->share, least, b->pool);
}

void baseline_tick(struct baseline *b, int measured_percent) {
  if (b->aimd) {
    aimd(b, measured_percent);
  } else {
    delta(b, measured_percent);
  }
  b->tokens = between(b->tokens + b->share, -b->pool, b->pool);
}

bool baseline_take(struct baseline *b, int blocks) {
  if (b->tokens < 0) return false;
  b->tokens -= blocks;
  return true;
}
