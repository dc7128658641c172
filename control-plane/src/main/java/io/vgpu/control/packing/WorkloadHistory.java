package io.vgpu.control.packing;

import io.vgpu.control.cluster.PodRequest;
import java.time.Duration;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Map;

/**
 * The pods that this cluster has run, exponentially forgotten: of two kinds as frequent, the one of
 * a half-life ago counts half. Pods that are gone go on to count until the process ends; a new one
 * learns from those that the API server still has, by their age. Lane {@code scheduler} only.
 */
public final class WorkloadHistory {
  /** Kinds beyond that are rare ones. */
  private static final int MOST = 4096;

  /** So far apart that weights would leave the range of a double. */
  private static final double FAR = 500;

  private final double halfLifeMillis;
  private final Map<Kind, Counted> kinds = new HashMap<>();
  private long reference;
  private long seen;

  private record Counted(Weight weight, long cardMemoryMiB) {}

  public WorkloadHistory(Duration halfLife) {
    this.halfLifeMillis = halfLife.toMillis();
  }

  /**
   * A pod has got a node.
   *
   * @param cardMemoryMiB of the node's cards; 0 when unknown
   * @param memoryFactor MiB in one unit of what it asks for
   * @param createdMillis when it was made
   */
  public void saw(PodRequest pod, long cardMemoryMiB, int memoryFactor, long createdMillis) {
    if (seen == 0) {
      reference = createdMillis;
    }
    seen++;
    double age = (createdMillis - reference) / halfLifeMillis;
    if (age > FAR) {
      shift(createdMillis);
      age = 0;
    }
    double weight = Math.pow(2, age);
    kinds.merge(
        Kind.of(pod, memoryFactor),
        new Counted(new Weight(weight, weight * pod.host().memoryMiB()), cardMemoryMiB),
        (a, b) ->
            new Counted(
                a.weight().plus(b.weight()), Math.max(a.cardMemoryMiB(), b.cardMemoryMiB())));
    if (kinds.size() > MOST) {
      forgetTheRarest();
    }
  }

  private void forgetTheRarest() {
    kinds.entrySet().stream()
        .sorted(Comparator.comparingDouble(e -> e.getValue().weight().pods()))
        .limit(MOST / 4)
        .map(Map.Entry::getKey)
        .toList()
        .forEach(kinds::remove);
  }

  /** Measures from a later moment; what is too long ago becomes nothing. */
  private void shift(long to) {
    double factor = Math.pow(2, (reference - to) / halfLifeMillis);
    kinds.replaceAll(
        (k, c) ->
            new Counted(
                new Weight(c.weight().pods() * factor, c.weight().memoryMiB() * factor),
                c.cardMemoryMiB()));
    reference = to;
  }

  /** How many pods were seen in all. */
  public long seen() {
    return seen;
  }

  /** What was learned, the caller's own. */
  public Map<Shape, Weight> weights(long typicalCardMemoryMiB) {
    Map<Shape, Weight> weights = new HashMap<>();
    kinds.forEach(
        (kind, counted) ->
            weights.merge(
                kind.on(
                    counted.cardMemoryMiB() > 0 ? counted.cardMemoryMiB() : typicalCardMemoryMiB),
                counted.weight(),
                Weight::plus));
    return weights;
  }
}
