package io.vgpu.control.packing;

import io.vgpu.control.cluster.NameFilter;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;

/**
 * The most frequent kinds of pods, until 95 % of the pods are covered, in columns: the inner loops
 * of packing read nothing else. Immutable.
 */
final class TypicalPods {
  private static final double COVERED = 0.95;

  /** A cluster of very many kinds is described by its commonest. */
  private static final int MOST = 64;

  final int size;
  final double[] frequency;
  final int[] cpu;
  final int[] memory;
  final int[] share;
  final int[] count;
  final NameFilter[] models;

  private TypicalPods(List<Map.Entry<Shape, Weight>> kinds) {
    double sum = kinds.stream().mapToDouble(k -> k.getValue().pods()).sum();
    size = kinds.size();
    frequency = new double[size];
    cpu = new int[size];
    memory = new int[size];
    share = new int[size];
    count = new int[size];
    models = new NameFilter[size];
    for (int i = 0; i < size; i++) {
      Shape shape = kinds.get(i).getKey();
      frequency[i] = kinds.get(i).getValue().pods() / sum;
      cpu[i] = shape.cpu();
      memory[i] = kinds.get(i).getValue().meanMemoryMiB();
      share[i] = shape.share();
      count[i] = shape.count();
      models[i] = shape.models();
    }
  }

  /** From the weights of all kinds; the same weights give the same order. */
  static TypicalPods of(Map<Shape, Weight> weights) {
    List<Map.Entry<Shape, Weight>> all = new ArrayList<>(weights.entrySet());
    all.sort(
        Comparator.<Map.Entry<Shape, Weight>>comparingDouble(e -> -e.getValue().pods())
            .thenComparing(Map.Entry::getKey));
    double sum = all.stream().mapToDouble(e -> e.getValue().pods()).sum();
    double covered = 0;
    int kinds = 0;
    while (kinds < all.size() && kinds < MOST && covered < COVERED * sum) {
      covered += all.get(kinds++).getValue().pods();
    }
    return new TypicalPods(all.subList(0, kinds));
  }

  /** Which kinds would run on cards of a model. */
  boolean[] onModel(String model) {
    boolean[] accepted = new boolean[size];
    for (int i = 0; i < size; i++) {
      accepted[i] = models[i].accepts(model);
    }
    return accepted;
  }
}
