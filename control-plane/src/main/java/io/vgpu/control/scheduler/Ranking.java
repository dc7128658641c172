package io.vgpu.control.scheduler;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Turns the policy's scores into kube-scheduler's 0 to 10 (D18): the best node alone has 10, so
 * that it wins whatever ties follow; the others share 9 to 0 in order. Pure.
 */
final class Ranking {
  static final int BEST = 10;

  /**
   * A node that fits.
   *
   * @param fitness how well it is built for the pod's topology mode; comes before the score
   * @param score its policy's
   */
  record Scored(String node, int fitness, double score) {}

  private Ranking() {}

  /** Best first; equal scores by name (control-plane.md 3.7). */
  static List<Scored> ordered(List<Scored> nodes) {
    List<Scored> sorted = new ArrayList<>(nodes);
    sorted.sort(
        Comparator.comparingInt(Scored::fitness)
            .thenComparingDouble(Scored::score)
            .reversed()
            .thenComparing(Scored::node));
    return sorted;
  }

  /** Levels of nodes given best first. */
  static Map<String, Integer> levels(List<Scored> ordered) {
    Map<String, Integer> levels = new LinkedHashMap<>();
    int others = ordered.size() - 1;
    for (int i = 0; i < ordered.size(); i++) {
      levels.put(ordered.get(i).node(), i == 0 ? BEST : levelOfOther(i - 1, others));
    }
    return levels;
  }

  /**
   * Levels where no policy tells nodes apart: by fitness alone, equal ones alike; nothing where all
   * are equal, so that kube-scheduler's own scores decide.
   */
  static Map<String, Integer> byFitness(List<Scored> nodes) {
    int best = nodes.stream().mapToInt(Scored::fitness).max().orElse(0);
    int worst = nodes.stream().mapToInt(Scored::fitness).min().orElse(0);
    Map<String, Integer> levels = new LinkedHashMap<>();
    nodes.forEach(
        n ->
            levels.put(n.node(), best == worst ? 0 : Math.max(0, BEST - 2 * (best - n.fitness()))));
    return levels;
  }

  /** Ten levels for the others; as far as they go, no two nodes share one. */
  private static int levelOfOther(int rank, int others) {
    return others <= BEST ? BEST - 1 - rank : BEST - 1 - (int) ((long) rank * BEST / others);
  }
}
