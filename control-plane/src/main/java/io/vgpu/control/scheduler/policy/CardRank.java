package io.vgpu.control.scheduler.policy;

import io.vgpu.model.Use;

/**
 * A card among its neighbours.
 *
 * @param at its place in the node's list of cards
 * @param freeScore mean of its three free fractions, times 100, before placing
 * @param share thousandths of it that the container takes
 */
public record CardRank(int at, int id, int numa, double freeScore, int share) {

  /** The mean free fraction of slots, cores and memory, times 100. */
  public static double meanFree(Use total, Use used) {
    return (free(total.slots(), used.slots())
            + free(total.cores(), used.cores())
            + free(total.memory(), used.memory()))
        / 3
        * 100;
  }

  private static double free(long total, long used) {
    return total == 0 ? 0 : (double) Math.max(0, total - used) / total;
  }
}
