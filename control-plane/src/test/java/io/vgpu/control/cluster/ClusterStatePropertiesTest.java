package io.vgpu.control.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.vgpu.claim.ClaimCodec;
import io.vgpu.claim.ClaimReader;
import io.vgpu.claim.ClaimSeal;
import io.vgpu.control.testing.Nodes;
import io.vgpu.control.testing.Pods;
import io.vgpu.model.ContainerClaim;
import io.vgpu.model.CorePercent;
import io.vgpu.model.DeviceClaim;
import io.vgpu.model.MemoryMiB;
import io.vgpu.model.NodeConfig;
import io.vgpu.model.PodClaim;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;

/** State that is kept by changes equals state that is built from what there is. */
class ClusterStatePropertiesTest {
  private static final ClaimSeal SEAL = ClaimSeal.parse("0123456789abcdef0123");
  private static final ClaimSeal OTHER_SEAL = ClaimSeal.parse("another-key-another-key");
  private static final PodClaim CLAIM =
      new PodClaim(
          List.of(
              new ContainerClaim(
                  "c1",
                  List.of(
                      new DeviceClaim(
                          0, Nodes.uuid(0), new CorePercent(10), new MemoryMiB(1000))))));

  private static PodRecord pod(String name, String node, boolean terminal, ClaimSeal seal) {
    PodRequest request = Pods.of(1, 10, 1000).request(name);
    return new PodRecord(
        request,
        node.isEmpty() ? null : node,
        terminal,
        false,
        ClaimCodec.encode(CLAIM),
        seal.seal(request.pod().uid(), CLAIM));
  }

  /** Any order of events leaves what a state built from the last objects would have. */
  @Property(tries = 300)
  void incrementalEqualsRebuilt(@ForAll long seed) {
    ClusterState incremental = fresh();
    Random random = new Random(seed);
    Map<String, PodRecord> pods = new TreeMap<>();
    Map<String, NodeRecord> nodes = new TreeMap<>();
    for (int step = 0; step < 80; step++) {
      change(incremental, random, pods, nodes);
      if (random.nextBoolean()) {
        incremental.publish();
      }
    }
    incremental.publish();
    ClusterState rebuilt = fresh();
    rebuilt.replaceNodes(List.copyOf(nodes.values()));
    rebuilt.replacePods(List.copyOf(pods.values()));
    rebuilt.publish();
    assertThat(cards(incremental.snapshot())).isEqualTo(cards(rebuilt.snapshot()));
    assertThat(cards(incremental.snapshot()).keySet()).isEqualTo(nodes.keySet());
  }

  private static ClusterState fresh() {
    return new ClusterState(new ClaimReader(() -> SEAL), 0, () -> 1, Nodes.QUIET);
  }

  private static void change(
      ClusterState state,
      Random random,
      Map<String, PodRecord> pods,
      Map<String, NodeRecord> nodes) {
    String p = "p" + random.nextInt(8);
    String n = "n" + random.nextInt(3);
    switch (random.nextInt(7)) {
      case 0 -> {
        NodeRecord record = Nodes.record(n, Nodes.u(1 + random.nextInt(2)), NodeConfig.DEFAULT);
        nodes.put(n, record);
        state.putNode(record);
      }
      case 1 -> {
        nodes.remove(n);
        state.removeNode(n);
      }
      case 2 -> {
        pods.remove("uid-" + p);
        state.removePod("uid-" + p);
      }
      case 3 -> state.replacePods(List.copyOf(pods.values()));
      case 4 -> state.replaceNodes(List.copyOf(nodes.values()));
      default -> {
        PodRecord record =
            pod(
                p,
                random.nextInt(4) == 0 ? "" : n,
                random.nextInt(5) == 0,
                // a pod's claim is written once: p0's by somebody else, for ever
                p.equals("p0") ? OTHER_SEAL : SEAL);
        pods.put(record.uid(), record);
        state.putPod(record);
      }
    }
  }

  private static Map<String, List<NodeView.Card>> cards(ClusterSnapshot snapshot) {
    Map<String, List<NodeView.Card>> cards = new HashMap<>();
    for (String name : snapshot.names()) {
      cards.put(name, snapshot.node(name).orElseThrow().cards());
    }
    return cards;
  }
}
