package io.vgpu.control.packing;

import java.util.HashMap;
import java.util.Map;

/**
 * What a card of a model costs those who do not need just that model: how much of the demand
 * insists on it, against how much of the cluster it is. About 0 where nobody insists, above 1 where
 * the insisting demand exceeds what there is. Pure.
 */
final class Prices {
  private Prices() {}

  static Map<String, Double> of(TypicalPods pods, ClusterShape cluster) {
    double demand = 0;
    for (int i = 0; i < pods.size; i++) {
      demand += milli(pods, i);
    }
    Map<String, Double> prices = new HashMap<>();
    if (demand == 0) {
      return prices;
    }
    for (int i = 0; i < pods.size; i++) {
      if (pods.models[i].isEmpty() || pods.count[i] == 0) {
        continue;
      }
      double named = named(pods, i, cluster);
      for (Map.Entry<String, Integer> model : cluster.cards().entrySet()) {
        if (pods.models[i].accepts(model.getKey())) {
          double part = model.getValue() / named;
          double ofCluster = (double) model.getValue() / cluster.allCards();
          prices.merge(model.getKey(), milli(pods, i) / demand * part / ofCluster, Double::sum);
        }
      }
    }
    return prices;
  }

  private static double milli(TypicalPods pods, int i) {
    return pods.frequency[i] * pods.share[i] * pods.count[i];
  }

  private static double named(TypicalPods pods, int i, ClusterShape cluster) {
    double sum = 0;
    for (Map.Entry<String, Integer> model : cluster.cards().entrySet()) {
      sum += pods.models[i].accepts(model.getKey()) ? model.getValue() : 0;
    }
    return sum;
  }
}
