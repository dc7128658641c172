package io.vgpu.control.scheduler;

import static org.assertj.core.api.Assertions.assertThat;

import io.vgpu.control.cluster.NodeView;
import io.vgpu.control.cluster.PodRequest;
import io.vgpu.control.cluster.Standing;
import io.vgpu.control.cluster.Use;
import io.vgpu.control.scheduler.policy.Look;
import io.vgpu.control.scheduler.policy.Policies;
import io.vgpu.control.testing.Nodes;
import io.vgpu.control.testing.Pods;
import io.vgpu.model.GpuDevice;
import io.vgpu.model.NodeConfig;
import io.vgpu.model.Reason;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;

/** The quick look says what the allocator says. */
class QuickFitTest {
  private final Allocator allocator = new Allocator(new Policies());

  @Property(tries = 5000)
  void agreesWithTheAllocator(@ForAll long seed) {
    Random random = new Random(seed);
    NodeView node = node(random);
    PodRequest pod = pod(random);
    assertThat(quick(pod, node)).as("%s on %s", pod, node).isEqualTo(full(pod, node));
  }

  /** The property above sees all that can happen to one container. */
  @Test
  void everyReasonIsSeen() {
    Map<String, Integer> seen = new java.util.TreeMap<>();
    for (long seed = 0; seed < 4000; seed++) {
      Random random = new Random(seed);
      NodeView node = node(random);
      seen.merge(quick(pod(random), node), 1, Integer::sum);
    }
    Map<Reason, Boolean> wanted = new EnumMap<>(Reason.class);
    for (Reason r :
        List.of(
            Reason.NODE_MEMORY_TYPE_MISMATCH,
            Reason.DEVICE_UNHEALTHY,
            Reason.DEVICE_MIG_ENABLED,
            Reason.INSUFFICIENT_VGPU_SLOT,
            Reason.INSUFFICIENT_VGPU_MEMORY,
            Reason.INSUFFICIENT_VGPU_CORE,
            Reason.DEVICE_TYPE_MISMATCH,
            Reason.DEVICE_UUID_MISMATCH,
            Reason.INSUFFICIENT_GPU_CARDS,
            Reason.INSUFFICIENT_GPU_RESOURCES)) {
      wanted.put(r, seen.containsKey(r.code()));
    }
    assertThat(wanted).doesNotContainValue(false);
    assertThat(seen.getOrDefault("", 0)).isGreaterThan(100);
  }

  private static String quick(PodRequest pod, NodeView node) {
    Reason reason = QuickFit.of(pod).orElseThrow().refusal(node);
    return reason == null ? "" : reason.code();
  }

  private String full(PodRequest pod, NodeView node) {
    return switch (allocator.plan(
        pod, new Standing(node, node.cards(), node.hostTotal()), Look.QUICK)) {
      case Verdict.Fits fits -> "";
      case Verdict.Refused no -> no.reason().code();
    };
  }

  private static NodeView node(Random random) {
    List<GpuDevice> devices = new ArrayList<>();
    int cards = 1 + random.nextInt(4);
    long alike = random.nextBoolean() ? 8000 : 0;
    for (int i = 0; i < cards; i++) {
      GpuDevice d =
          Nodes.card(
              i,
              random.nextInt(3) == 0 ? "NVIDIA A100" : "NVIDIA A10",
              alike > 0 ? alike : 1000L * (1 + random.nextInt(12)),
              1 + random.nextInt(4),
              i % 3 - 1,
              random.nextInt(4) == 0 ? 200 : 100);
      int state = random.nextInt(6);
      devices.add(
          new GpuDevice(
              d.id(),
              d.type(),
              d.uuid(),
              d.core(),
              d.memory(),
              d.number(),
              d.numa(),
              state == 0,
              d.busId(),
              d.capability(),
              state != 1));
    }
    Use[] used = new Use[cards];
    for (int i = 0; i < cards; i++) {
      GpuDevice d = devices.get(i);
      used[i] =
          new Use(
              random.nextInt(d.number() + 1),
              random.nextInt(3) == 0 ? d.core() : random.nextInt(d.core()),
              random.nextInt(3) == 0 ? d.memory() : random.nextInt((int) d.memory()));
    }
    NodeConfig config =
        new NodeConfig(4, 1, random.nextInt(3) == 0 ? 256 : 1, random.nextInt(5) == 0 ? 2 : 1);
    return Nodes.used(Nodes.view("n1", devices, config), used);
  }

  private static PodRequest pod(Random random) {
    long memory = random.nextInt(3) == 0 ? 0 : 1 + random.nextInt(5000);
    Pods pod = new Pods();
    int number = 1 + random.nextInt(3);
    int cores = random.nextInt(3) == 0 ? 0 : random.nextInt(101);
    switch (random.nextInt(3)) {
      case 0 -> pod.init(number, cores, memory);
      case 1 -> pod.sidecar(number, cores, memory);
      default -> pod.app(number, cores, memory);
    }
    if (random.nextInt(4) == 0) {
      pod.with(Pods.NAMES.includeGpuType(), random.nextBoolean() ? "a100" : "A10");
    }
    if (random.nextInt(4) == 0) {
      pod.with(Pods.NAMES.excludeGpuUuid(), random.nextBoolean() ? "card-1" : "GPU-card");
    }
    if (random.nextInt(5) == 0) {
      pod.with(Pods.NAMES.memorySchedulerPolicy(), random.nextBoolean() ? "virtual" : "physical");
    }
    if (random.nextInt(3) == 0) {
      pod.with(Pods.NAMES.deviceTopologyMode(), random.nextBoolean() ? "numa" : "link");
    }
    return pod.device(random.nextBoolean() ? "binpack" : "spread").request();
  }
}
