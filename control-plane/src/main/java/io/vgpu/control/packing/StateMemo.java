package io.vgpu.control.packing;

import java.util.Arrays;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Values by node state, in two generations: when the young one is full it becomes the old one, so
 * that what is still asked for stays and memory is bounded. Any thread.
 */
final class StateMemo {
  /** Of a node: CPU, memory, cards in order, model. */
  record Key(int cpu, int memory, String model, int[] cards) {
    @Override
    public boolean equals(Object o) {
      return o instanceof Key k
          && cpu == k.cpu
          && memory == k.memory
          && model.equals(k.model)
          && Arrays.equals(cards, k.cards);
    }

    @Override
    public int hashCode() {
      return ((Arrays.hashCode(cards) * 31 + cpu) * 31 + memory) * 31 + model.hashCode();
    }
  }

  /** Computes what is not there. */
  @FunctionalInterface
  interface Source {
    double of(Key key);
  }

  private final int most;
  private final Source source;
  private volatile ConcurrentHashMap<Key, Double> young = new ConcurrentHashMap<>();
  private volatile ConcurrentHashMap<Key, Double> old = new ConcurrentHashMap<>();

  /** At most twice {@code most} values are kept. */
  StateMemo(int most, Source source) {
    this.most = most;
    this.source = source;
  }

  double get(Key key) {
    Double known = young.get(key);
    if (known == null) {
      known = old.get(key);
      if (known == null) {
        known = source.of(key);
      }
      keep(key, known);
    }
    return known;
  }

  private void keep(Key key, Double value) {
    ConcurrentHashMap<Key, Double> into = young;
    into.put(key, value);
    if (into.size() >= most) {
      turn(into);
    }
  }

  private synchronized void turn(ConcurrentHashMap<Key, Double> full) {
    if (young == full) {
      old = full;
      young = new ConcurrentHashMap<>();
    }
  }

  int size() {
    return young.size() + old.size();
  }
}
