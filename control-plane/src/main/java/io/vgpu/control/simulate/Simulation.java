package io.vgpu.control.simulate;

import io.vgpu.control.packing.WorkloadModel;
import io.vgpu.control.scheduler.policy.AllocationPolicy;
import io.vgpu.control.scheduler.policy.BestFit;
import io.vgpu.control.scheduler.policy.Binpack;
import io.vgpu.control.scheduler.policy.Fgd;
import io.vgpu.control.scheduler.policy.Foresight;
import io.vgpu.control.scheduler.policy.Spread;
import io.vgpu.runtime.UsageException;
import java.util.List;
import java.util.Locale;
import java.util.function.IntConsumer;

/** Which policies can be replayed, and one replay of each. Any thread. */
public final class Simulation {
  /** Our policies, and two that everything is compared with. */
  public static final List<String> POLICIES =
      List.of("random", "bestfit", "binpack", "spread", "fgd", "foresight");

  private final SimCluster cluster;
  private final WorkloadModel workload;
  private final double inflate;

  /** {@code inflate}: how much of all cards is asked for in the end; 1: the pods as they are. */
  public Simulation(SimCluster cluster, double inflate) {
    this.cluster = cluster;
    this.workload = cluster.workload();
    this.inflate = inflate;
  }

  /** How many pods arrive. */
  public int arrivals(long seed) {
    return Arrivals.of(cluster, inflate, seed).size();
  }

  /**
   * A point for each whole percent of arrived load.
   *
   * @param each told how many pods have arrived
   */
  public List<Point> run(String policy, long seed, IntConsumer each) {
    return new Replay(cluster, workload, plugIn(policy, seed))
        .run(Arrivals.of(cluster, inflate, seed), seed, each);
  }

  /** The policy's name as we write it; throws {@link UsageException} for one that nobody knows. */
  public static String known(String policy) {
    String word = policy.strip().toLowerCase(Locale.ROOT);
    if (!POLICIES.contains(word)) {
      throw new UsageException(
          "--policy \"" + policy + "\": must be one of " + String.join(", ", POLICIES));
    }
    return word;
  }

  private AllocationPolicy plugIn(String policy, long seed) {
    return switch (known(policy)) {
      case "random" -> new RandomChoice(seed);
      case "bestfit" -> new BestFit(() -> workload);
      case "binpack" -> new Binpack();
      case "spread" -> new Spread();
      case "fgd" -> new Fgd(() -> workload);
      case "foresight" -> new Foresight(() -> workload);
      default -> throw new IllegalStateException(policy);
    };
  }
}
