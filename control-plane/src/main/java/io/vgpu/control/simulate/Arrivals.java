package io.vgpu.control.simulate;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;

/**
 * In which order pods arrive: shuffled, and their number made to fit a load, both by the seed.
 * Pure: the same seed gives the same arrivals, on every machine.
 */
final class Arrivals {
  private Arrivals() {}

  /**
   * Pods drawn with replacement are appended until the sum would pass {@code inflate} times the
   * cluster's cards; a workload above that loses pods at random.
   *
   * @param inflate 1 leaves the workload as it is
   */
  static List<SimPod> of(SimCluster cluster, double inflate, long seed) {
    Random random = new Random(seed);
    List<SimPod> arrivals = new ArrayList<>(cluster.pods());
    Collections.shuffle(arrivals, random);
    if (inflate == 1 || cluster.pods().isEmpty()) {
      return arrivals;
    }
    double target = inflate * cluster.totalMilli();
    long sum = arrivals.stream().mapToLong(SimPod::milli).sum();
    while (sum > target) {
      sum -= arrivals.remove(random.nextInt(arrivals.size())).milli();
    }
    if (sum == 0) {
      return arrivals; // pods without cards alone never reach any load
    }
    while (true) {
      SimPod next = cluster.pods().get(random.nextInt(cluster.pods().size()));
      if (sum + next.share() > target) {
        return arrivals;
      }
      arrivals.add(next);
      sum += next.milli();
    }
  }
}
