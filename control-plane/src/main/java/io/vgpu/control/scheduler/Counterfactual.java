package io.vgpu.control.scheduler;

import io.vgpu.control.cluster.NodeView;
import io.vgpu.control.cluster.PodRequest;
import io.vgpu.control.cluster.Standing;
import io.vgpu.control.scheduler.policy.Look;
import io.vgpu.control.scheduler.topology.Alignment;
import io.vgpu.model.ContainerDemand;
import io.vgpu.model.PodDemand;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.function.LongPredicate;

/**
 * What would have to be different in a request for the verdict on a node to be another one: exact
 * to one unit, because it is found by asking the allocator itself. Pure.
 */
final class Counterfactual {
  private final Allocator allocator;

  /** What of a container's request is changed. */
  enum Resource {
    NUMBER("vgpu-number", 16),
    CORES("vgpu-cores", 100),
    MEMORY("vgpu-memory", io.vgpu.model.MemoryMiB.MAX);

    private final String word;
    private final long most;

    Resource(String word, long most) {
      this.word = word;
      this.most = most;
    }

    String word() {
      return word;
    }

    private long of(ContainerDemand c) {
      return switch (this) {
        case NUMBER -> c.number();
        case CORES -> c.cores();
        case MEMORY -> c.memory();
      };
    }

    private ContainerDemand with(ContainerDemand c, long value) {
      return switch (this) {
        case NUMBER -> new ContainerDemand(c.name(), c.kind(), value, c.cores(), c.memory());
        case CORES -> new ContainerDemand(c.name(), c.kind(), c.number(), value, c.memory());
        case MEMORY -> new ContainerDemand(c.name(), c.kind(), c.number(), c.cores(), value);
      };
    }
  }

  /**
   * With all else as it is, the pod fits when this container asks for {@code atMost}, and does not
   * when it asks for one more.
   *
   * @param asked what it asks for
   */
  record Limit(String container, Resource resource, long asked, long atMost) {}

  Counterfactual(Allocator allocator) {
    this.allocator = allocator;
  }

  /**
   * The limits that the verdict hangs on. For a pod that does not fit: which single request would
   * have to be smaller, none when no single one helps. For one that fits: how far each could grow.
   */
  List<Limit> limits(PodRequest pod, Standing node, Alignment alignment) {
    boolean fits = fits(pod, node, alignment);
    List<Limit> limits = new ArrayList<>();
    List<ContainerDemand> containers = pod.demand().containers();
    for (int i = 0; i < containers.size(); i++) {
      ContainerDemand c = containers.get(i);
      for (Resource resource : Resource.values()) {
        // 0 cores or memory is another kind of request, not a small one
        if (c.number() > 0 && resource.of(c) > 0) {
          int at = i;
          LongPredicate fitsWith =
              value -> fits(changed(pod, at, resource, value), node, alignment);
          OptionalLong limit =
              fits
                  ? last(resource.of(c), resource.most, fitsWith)
                  : last(1, resource.of(c) - 1, fitsWith);
          limit.ifPresent(
              atMost -> limits.add(new Limit(c.name(), resource, resource.of(c), atMost)));
        }
      }
    }
    return limits;
  }

  private boolean fits(PodRequest pod, Standing node, Alignment alignment) {
    return allocator.plan(pod, node, Look.QUICK, alignment) instanceof Verdict.Fits;
  }

  /**
   * A value from {@code low} on that holds and whose successor does not; empty where {@code low}
   * does not hold. Where all up to {@code high} hold, {@code high}.
   */
  private static OptionalLong last(long low, long high, LongPredicate holds) {
    if (low > high || !holds.test(low)) {
      return OptionalLong.empty();
    }
    if (holds.test(high)) {
      return OptionalLong.of(high);
    }
    long yes = low;
    long no = high;
    while (no - yes > 1) {
      long middle = yes + (no - yes) / 2;
      if (holds.test(middle)) {
        yes = middle;
      } else {
        no = middle;
      }
    }
    return OptionalLong.of(yes);
  }

  private static PodRequest changed(PodRequest pod, int container, Resource resource, long value) {
    List<ContainerDemand> containers = new ArrayList<>(pod.demand().containers());
    containers.set(container, resource.with(containers.get(container), value));
    return pod.asking(new PodDemand(containers));
  }

  /** A node as it stands for the pod now. */
  static Standing standing(PodRequest pod, NodeView node, long nowNanos) {
    return node.standing(pod.pod().uid(), nowNanos, true);
  }
}
