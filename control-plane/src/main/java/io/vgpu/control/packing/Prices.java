package io.vgpu.control.packing;

import java.util.HashMap;
import java.util.Map;

/**
 * What a card of a model costs those who would run on any: how much of the demand insists on it,
 * against how much of what the cluster has left is of the models that these pods name. 0 where
 * nobody insists, above 1 where more is wanted by those who insist than is left. Pure.
 */
final class Prices {
  private Prices() {}

  /** Whether any typical pod insists on a model. */
  static boolean matter(TypicalPods pods) {
    for (int i = 0; i < pods.size; i++) {
      if (insists(pods, i)) {
        return true;
      }
    }
    return false;
  }

  private static boolean insists(TypicalPods pods, int i) {
    return !pods.models[i].isEmpty() && pods.count[i] > 0;
  }

  /** {@code left}: of each model in the whole cluster, thousandths of cards. */
  static Map<String, Double> of(TypicalPods pods, Map<String, Long> left) {
    double demand = 0;
    for (int i = 0; i < pods.size; i++) {
      demand += milli(pods, i);
    }
    double all = left.values().stream().mapToLong(Long::longValue).sum();
    Map<String, Double> prices = new HashMap<>();
    for (int i = 0; i < pods.size; i++) {
      if (insists(pods, i)) {
        double named = named(pods, i, left);
        for (String model : left.keySet()) {
          if (pods.models[i].accepts(model)) {
            prices.merge(model, milli(pods, i) / demand * all / named, Double::sum);
          }
        }
      }
    }
    return prices;
  }

  private static double milli(TypicalPods pods, int i) {
    return pods.frequency[i] * pods.share[i] * pods.count[i];
  }

  /** What is left of the models that a kind names; the last card is not infinitely dear. */
  private static double named(TypicalPods pods, int i, Map<String, Long> left) {
    double sum = 0;
    for (Map.Entry<String, Long> model : left.entrySet()) {
      sum += pods.models[i].accepts(model.getKey()) ? model.getValue() : 0;
    }
    return Math.max(sum, Room.CARD);
  }
}
