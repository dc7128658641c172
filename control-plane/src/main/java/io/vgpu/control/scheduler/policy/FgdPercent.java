package io.vgpu.control.scheduler.policy;

import io.vgpu.control.packing.Room;

/**
 * The published score of fgd, {@code floor(100 / (1 + exp(change / card)))}: 50 where a placement
 * leaves as many fragments as it found, fewer the more it makes. It is asked for each card of each
 * node, so that where one percent ends and the next begins is looked up once.
 */
final class FgdPercent {
  private static final int MOST = 100;

  /** By percent: the greatest change that still gets it. */
  private static final double[] UP_TO = new double[MOST + 1];

  static {
    for (int percent = 0; percent <= MOST; percent++) {
      UP_TO[percent] = greatest(percent);
    }
  }

  private FgdPercent() {}

  /** {@code change}: thousandths of cards that are fragments now and were none before. */
  static double of(double change) {
    // one percent is 40 thousandths in the middle, more at the ends
    int percent = Math.clamp((long) (50 - change * 0.025), 0, MOST);
    while (percent > 0 && change > UP_TO[percent]) {
      percent--;
    }
    while (percent < MOST && change <= UP_TO[percent + 1]) {
      percent++;
    }
    return percent;
  }

  static double formula(double change) {
    return Math.floor(MOST / (1 + Math.exp(change / Room.CARD)));
  }

  /** Between two changes the formula never rises, as exp never falls: halves what is between. */
  private static double greatest(int percent) {
    double gets = -1e6;
    double too = 1e6;
    if (formula(too) >= percent) {
      return Double.POSITIVE_INFINITY;
    }
    for (double middle = 0; Math.nextUp(gets) < too; middle = gets + (too - gets) / 2) {
      if (formula(middle) >= percent) {
        gets = middle;
      } else {
        too = middle;
      }
    }
    return gets;
  }
}
