package io.vgpu.control.scheduler;

import static org.assertj.core.api.Assertions.assertThat;

import io.vgpu.control.cluster.NodeView;
import io.vgpu.control.cluster.PodRequest;
import io.vgpu.control.cluster.Standing;
import io.vgpu.control.scheduler.Counterfactual.Limit;
import io.vgpu.control.scheduler.Counterfactual.Resource;
import io.vgpu.control.scheduler.policy.Look;
import io.vgpu.control.scheduler.policy.Policies;
import io.vgpu.control.scheduler.topology.Alignment;
import io.vgpu.control.testing.Nodes;
import io.vgpu.control.testing.Pods;
import io.vgpu.model.ContainerDemand;
import io.vgpu.model.GpuDevice;
import io.vgpu.model.PodDemand;
import io.vgpu.model.Use;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;

/** Change what an explanation names by one unit, and the verdict is another one. */
class CounterfactualTest {
  private final Allocator allocator = new Allocator(new Policies());
  private final Counterfactual counterfactual = new Counterfactual(allocator);

  private static Standing standing(NodeView node) {
    return new Standing(node, node.cards(), node.hostTotal());
  }

  @Test
  void oneMiBAndOneCore() {
    NodeView node = Nodes.used(Nodes.view(Nodes.u(1)), new Use(1, 41, 8001));
    PodRequest pod = Pods.of(1, 60, 1000).app(1, 0, 20000).request();
    assertThat(counterfactual.limits(Pods.of(1, 60, 100).request(), standing(node), Alignment.NONE))
        .containsExactly(new Limit("c1", Resource.CORES, 60, 59));
    assertThat(counterfactual.limits(pod, standing(node), Alignment.NONE))
        .as("two things are wrong, so that no single one helps")
        .isEmpty();
    assertThat(
            counterfactual.limits(Pods.of(1, 1, 16000).request(), standing(node), Alignment.NONE))
        .containsExactly(new Limit("c1", Resource.MEMORY, 16000, 15999));
    assertThat(
            counterfactual.limits(Pods.of(1, 1, 15999).request(), standing(node), Alignment.NONE))
        .contains(new Limit("c1", Resource.MEMORY, 15999, 15999));
  }

  @Property(tries = 400)
  void theVerdictFlips(@ForAll long seed) {
    Random random = new Random(seed);
    Standing node = standing(node(random));
    PodRequest pod = pod(random);
    boolean fits = fits(pod, node);
    for (Limit limit : counterfactual.limits(pod, node, Alignment.NONE)) {
      assertThat(fits(with(pod, limit, limit.atMost()), node)).as("%s", limit).isTrue();
      if (fits) {
        assertThat(limit.atMost()).isGreaterThanOrEqualTo(limit.asked());
      } else {
        assertThat(limit.atMost()).isLessThan(limit.asked());
      }
      boolean most = limit.resource() == Resource.CORES && limit.atMost() == 100;
      if (!most) {
        assertThat(fits(with(pod, limit, limit.atMost() + 1), node)).as("%s", limit).isFalse();
      }
    }
  }

  private boolean fits(PodRequest pod, Standing node) {
    return allocator.plan(pod, node, Look.QUICK) instanceof Verdict.Fits;
  }

  private static PodRequest with(PodRequest pod, Limit limit, long value) {
    List<ContainerDemand> containers = new ArrayList<>();
    for (ContainerDemand c : pod.demand().containers()) {
      containers.add(
          !c.name().equals(limit.container())
              ? c
              : switch (limit.resource()) {
                case NUMBER ->
                    new ContainerDemand(c.name(), c.kind(), value, c.cores(), c.memory());
                case CORES ->
                    new ContainerDemand(c.name(), c.kind(), c.number(), value, c.memory());
                case MEMORY ->
                    new ContainerDemand(c.name(), c.kind(), c.number(), c.cores(), value);
              });
    }
    return pod.asking(new PodDemand(containers));
  }

  private static NodeView node(Random random) {
    List<GpuDevice> devices = new ArrayList<>();
    int cards = 1 + random.nextInt(4);
    for (int i = 0; i < cards; i++) {
      devices.add(Nodes.card(i, "NVIDIA A10", 1000L * (1 + random.nextInt(20)), 4, i % 2));
    }
    Use[] used = new Use[cards];
    for (int i = 0; i < cards; i++) {
      used[i] =
          new Use(
              random.nextInt(4),
              random.nextInt(100),
              random.nextInt((int) devices.get(i).memory()));
    }
    return Nodes.used(Nodes.view(devices), used);
  }

  private static PodRequest pod(Random random) {
    Pods pod = new Pods().device(random.nextBoolean() ? "binpack" : "none");
    if (random.nextInt(4) == 0) {
      pod.with(Pods.NAMES.deviceTopologyMode(), "numa-strict");
    }
    if (random.nextInt(3) == 0) {
      pod.init(1, random.nextInt(100), random.nextInt(9000));
    }
    for (int i = 0; i <= random.nextInt(2); i++) {
      pod.app(1 + random.nextInt(2), random.nextInt(101), random.nextInt(12000));
    }
    return pod.request();
  }
}
