package io.vgpu.control.scheduler;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.vgpu.control.cluster.NodeView;
import io.vgpu.control.scheduler.policy.Policies;
import io.vgpu.control.scheduler.policy.Weights;
import io.vgpu.control.testing.Nodes;
import io.vgpu.control.testing.Pods;
import io.vgpu.model.NodeConfig;
import io.vgpu.model.Reason;
import io.vgpu.model.Use;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** The rows of control-plane.md 8 that compare nodes: 36, 37, 80, and the examples of 3.7. */
class RankingScenariosTest {
  private final Allocator allocator = new Allocator(new Policies());

  private static NodeView four(String name, Use onFirst) {
    return Nodes.used(
        Nodes.view(name, Nodes.alike(4, 12288), NodeConfig.DEFAULT),
        new Use(onFirst.slots() / 4, onFirst.cores() / 4, onFirst.memory() / 4),
        new Use(onFirst.slots() / 4, onFirst.cores() / 4, onFirst.memory() / 4),
        new Use(onFirst.slots() / 4, onFirst.cores() / 4, onFirst.memory() / 4),
        new Use(
            onFirst.slots() - 3 * (onFirst.slots() / 4),
            onFirst.cores() - 3 * (onFirst.cores() / 4),
            onFirst.memory() - 3 * (onFirst.memory() / 4)));
  }

  private static final NodeView A = four("a", new Use(4, 200, 8192));
  private static final NodeView B = four("b", new Use(10, 100, 24576));
  private static final NodeView C = four("c", Use.ZERO);

  private double score(Pods pod, NodeView node) {
    return allocator.score(pod.request(), node, node.cards());
  }

  private List<String> order(Pods pod, NodeView... nodes) {
    List<NodeView> byName =
        Arrays.stream(nodes).sorted(Comparator.comparing(NodeView::name)).toList();
    Ranked ranked =
        Ranked.of(
            IntStream.range(0, nodes.length).toArray(),
            new int[nodes.length],
            byName.stream().mapToDouble(n -> score(pod, n)).toArray(),
            nodes.length);
    return IntStream.range(0, ranked.size())
        .mapToObj(rank -> byName.get(ranked.position(rank)).name())
        .toList();
  }

  @Test
  void row36TheWorkedExample() {
    Pods binpack = Pods.of(1, 50, 4096).node("binpack");
    Pods spread = Pods.of(1, 50, 4096).node("spread");
    assertThat(score(binpack, A)).isEqualTo(26.14, within(0.005));
    assertThat(score(binpack, B)).isEqualTo(50.83, within(0.005));
    assertThat(score(binpack, C)).isEqualTo(7.65, within(0.005));
    assertThat(score(spread, A)).isEqualTo(81.52, within(0.005));
    assertThat(score(spread, B)).isEqualTo(56.82, within(0.005));
    assertThat(score(spread, C)).isEqualTo(100.0, within(0.005));
    assertThat(order(binpack, C, A, B)).containsExactly("b", "a", "c");
    assertThat(order(spread, A, B, C)).containsExactly("c", "a", "b");
  }

  @Test
  void row37WholeCards() {
    NodeView empty = Nodes.view("a", Nodes.alike(2, 12288), NodeConfig.DEFAULT);
    NodeView half =
        Nodes.used(
            Nodes.view("b", Nodes.alike(2, 12288), NodeConfig.DEFAULT), new Use(1, 100, 12288));
    Pods binpack = Pods.of(1, 0, 0).node("binpack");
    Pods spread = Pods.of(1, 0, 0).node("spread");
    assertThat(score(binpack, half)).isEqualTo(70.0, within(0.005));
    assertThat(score(binpack, empty)).isEqualTo(35.0, within(0.005));
    assertThat(score(spread, empty)).isEqualTo(100.0, within(0.005));
    assertThat(score(spread, half)).isEqualTo(65.0, within(0.005));
    assertThat(order(binpack, empty, half)).containsExactly("b", "a");
    assertThat(order(spread, half, empty)).containsExactly("a", "b");
  }

  @Test
  void weightsFollowTheRequest() {
    assertThat(weights(Pods.of(1, 0, 0))).isEqualTo(new Weights(1 / 3.0, 1 / 3.0, 1 / 3.0));
    assertThat(weights(Pods.of(1, 50, 0))).isEqualTo(new Weights(0.4, 0.2, 0.4));
    assertThat(weights(Pods.of(1, 0, 4096))).isEqualTo(new Weights(0.2, 0, 0.8));
    assertThat(weights(Pods.of(2, 0, 4))).isEqualTo(new Weights(0.5, 0, 0.5));
    assertThat(weights(Pods.of(1, 50, 0).app(2, 0, 0)))
        .isEqualTo(new Weights(3 / 8.5, 2.5 / 8.5, 3 / 8.5));
  }

  private static Weights weights(Pods pod) {
    return Needs.weights(pod.request().demand());
  }

  @Test
  void aNodeWithoutRoomScoresNothing() {
    NodeView full = four("d", new Use(40, 400, 4 * 12288));
    assertThat(score(Pods.of(1, 50, 4096).node("binpack"), full)).isZero();
    assertThat(score(Pods.of(1, 50, 4096).node("spread"), full)).isZero();
  }

  @Test
  void theBestNodeAloneHasTen() {
    List<Integer> inOrder = levels(30);
    assertThat(inOrder.getFirst()).isEqualTo(10);
    assertThat(inOrder.subList(1, 30)).allMatch(l -> l >= 0 && l <= 9).contains(0, 9);
    assertThat(inOrder).isSortedAccordingTo((a, b) -> Integer.compare(b, a));
    assertThat(levels(4)).containsExactly(10, 9, 8, 7);
    assertThat(levels(11)).containsExactly(10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
  }

  private static List<Integer> levels(int nodes) {
    Ranked ranked =
        Ranked.of(
            IntStream.range(0, nodes).toArray(),
            new int[nodes],
            IntStream.range(0, nodes).mapToDouble(i -> 100 - i).toArray(),
            nodes);
    byte[] levels = Ranking.levels(ranked, nodes);
    return IntStream.range(0, nodes).mapToObj(i -> (int) levels[i]).toList();
  }

  @Test
  void row80TheAggregateText() {
    Map<String, Verdict.Refused> refusals = new TreeMap<>();
    for (String n : List.of("c", "d", "e", "f")) {
      refusals.put(n, Verdict.Refused.of(Reason.INSUFFICIENT_VGPU_MEMORY, "x"));
    }
    for (String n : List.of("b", "a")) {
      refusals.put(n, Verdict.Refused.of(Reason.DEVICE_TYPE_MISMATCH, ""));
    }
    refusals.put("g", Verdict.Refused.of(Reason.NODE_NO_VGPU_REGISTER, ""));
    assertThat(AggregateText.of(10, refusals))
        .isEqualTo(
            "0/10 nodes are available: 4 Insufficient vGPU memory (c,d,e,f), "
                + "2 GPU type mismatch (a,b), 1 node has no vGPU registered (g).");
    assertThat(AggregateText.of(3, Map.of())).isEqualTo("0/3 nodes are available");
    for (int i = 0; i < 7; i++) {
      refusals.put("h" + i, Verdict.Refused.of(Reason.INSUFFICIENT_VGPU_MEMORY, ""));
    }
    assertThat(AggregateText.of(14, refusals))
        .contains("11 Insufficient vGPU memory (c,d,e,f,h0 and 6 more)");
  }
}
