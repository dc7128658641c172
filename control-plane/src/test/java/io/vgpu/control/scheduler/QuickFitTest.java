package io.vgpu.control.scheduler;

import static org.assertj.core.api.Assertions.assertThat;

import io.vgpu.control.cluster.Footprint;
import io.vgpu.control.cluster.Host;
import io.vgpu.control.cluster.InFlight;
import io.vgpu.control.cluster.NodeLinks;
import io.vgpu.control.cluster.NodeOffer;
import io.vgpu.control.cluster.NodeView;
import io.vgpu.control.cluster.PodRequest;
import io.vgpu.control.scheduler.policy.Look;
import io.vgpu.control.scheduler.policy.Policies;
import io.vgpu.control.scheduler.topology.Alignment;
import io.vgpu.control.testing.Nodes;
import io.vgpu.control.testing.Pods;
import io.vgpu.model.GpuDevice;
import io.vgpu.model.NodeConfig;
import io.vgpu.model.NodeTopology;
import io.vgpu.model.Reason;
import io.vgpu.model.Use;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.SortedMap;
import java.util.TreeMap;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;

/** The quick look says what the allocator says. */
class QuickFitTest {
  private static final long NOW = 1_000;

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
    Map<String, Integer> seen = new TreeMap<>();
    for (long seed = 0; seed < 8000; seed++) {
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
            Reason.DEVICE_CORDONED,
            Reason.INSUFFICIENT_VGPU_SLOT,
            Reason.INSUFFICIENT_VGPU_MEMORY,
            Reason.INSUFFICIENT_VGPU_CORE,
            Reason.DEVICE_TYPE_MISMATCH,
            Reason.DEVICE_UUID_MISMATCH,
            Reason.INSUFFICIENT_GPU_CARDS,
            Reason.INSUFFICIENT_GPU_RESOURCES,
            Reason.NUMA_TOPOLOGY_UNSATISFIED,
            Reason.LINK_TOPOLOGY_UNSATISFIED)) {
      wanted.put(r, seen.keySet().stream().anyMatch(said -> said.startsWith(r.code() + ":")));
    }
    assertThat(wanted).doesNotContainValue(false);
    assertThat(seen.getOrDefault("", 0)).isGreaterThan(100);
  }

  private static String quick(PodRequest pod, NodeView node) {
    Verdict.Refused no = QuickFit.of(pod, Alignment.NONE).orElseThrow().refusal(node, NOW);
    return no == null ? "" : said(no);
  }

  private String full(PodRequest pod, NodeView node) {
    return switch (allocator.plan(pod, node.standing(pod.pod().uid(), NOW, true), Look.QUICK)) {
      case Verdict.Fits fits -> "";
      case Verdict.Refused no -> said(no);
    };
  }

  /** What kube-scheduler is told: the detail where the phrase alone is not all. */
  private static String said(Verdict.Refused no) {
    return no.reason().code() + ": " + no.text();
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
              state != 1,
              random.nextInt(6) == 0 ? GpuDevice.Withheld.CORDONED : GpuDevice.Withheld.NO));
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
    NodeView plain = Nodes.used(Nodes.view("n1", devices, config), used);
    NodeOffer offer =
        random.nextBoolean()
            ? plain.offer()
            : new NodeOffer.Offered(
                config, devices, NodeLinks.of(devices, links(random, cards)), Map.of());
    return new NodeView("n1", offer, plain.cards(), inFlight(random, devices));
  }

  private static NodeTopology links(Random random, int cards) {
    SortedMap<Integer, SortedMap<Integer, List<Integer>>> links = new TreeMap<>();
    for (int a = 0; a < cards; a++) {
      for (int b = a + 1; b < cards; b++) {
        List<Integer> pair = List.of(random.nextInt(9));
        links.computeIfAbsent(a, k -> new TreeMap<>()).put(b, pair);
        links.computeIfAbsent(b, k -> new TreeMap<>()).put(a, pair);
      }
    }
    return new NodeTopology(links);
  }

  /** Of the pod itself or of another, soft or not, over or not. */
  private static List<InFlight> inFlight(Random random, List<GpuDevice> devices) {
    List<InFlight> inFlight = new ArrayList<>();
    for (int i = random.nextInt(4) - 1; i > 0; i--) {
      GpuDevice device = devices.get(random.nextInt(devices.size()));
      Use use = new Use(1, random.nextInt(60), random.nextInt(6000));
      inFlight.add(
          new InFlight(
              random.nextInt(3) == 0 ? Pods.of(1, 1, 1).request().pod().uid() : "other-" + i,
              new Footprint(Map.of(device.uuid(), use), Host.ZERO),
              random.nextBoolean(),
              NOW + random.nextInt(3) - 1));
    }
    return inFlight;
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
    if (random.nextInt(2) == 0) {
      String mode = random.nextBoolean() ? "numa" : "link";
      pod.with(Pods.NAMES.deviceTopologyMode(), mode + (random.nextBoolean() ? "" : "-strict"));
    }
    return pod.device(random.nextBoolean() ? "binpack" : "spread").request();
  }
}
