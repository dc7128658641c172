package io.vgpu.control.scheduler;

/**
 * Turns an order of nodes into kube-scheduler's 0 to 10 (D18): the best node alone has 10, so that
 * it wins whatever ties follow; the others share 9 to 0 in order. Pure.
 */
final class Ranking {
  static final int BEST = 10;

  private Ranking() {}

  /** A level for each of {@code nodes} nodes, by position; 0 for those that are not ranked. */
  static byte[] levels(Ranked ranked, int nodes) {
    byte[] levels = new byte[nodes];
    int others = ranked.size() - 1;
    for (int i = 0; i < ranked.size(); i++) {
      levels[ranked.position(i)] = (byte) (i == 0 ? BEST : levelOfOther(i - 1, others));
    }
    return levels;
  }

  /**
   * Levels where no policy tells nodes apart: by fitness alone, equal ones alike; nothing where all
   * are equal, so that kube-scheduler's own scores decide.
   */
  static byte[] byFitness(Ranked ranked, int nodes) {
    byte[] levels = new byte[nodes];
    int size = ranked.size();
    int best = size == 0 ? 0 : ranked.fitness(0);
    int worst = size == 0 ? 0 : ranked.fitness(size - 1);
    for (int i = 0; i < size && best != worst; i++) {
      levels[ranked.position(i)] = (byte) Math.max(0, BEST - 2 * (best - ranked.fitness(i)));
    }
    return levels;
  }

  /** Ten levels for the others; as far as they go, no two nodes share one. */
  private static int levelOfOther(int rank, int others) {
    return others <= BEST ? BEST - 1 - rank : BEST - 1 - (int) ((long) rank * BEST / others);
  }
}
