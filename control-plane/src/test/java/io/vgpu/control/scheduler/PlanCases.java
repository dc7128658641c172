package io.vgpu.control.scheduler;

import static org.assertj.core.api.Assertions.assertThat;

import io.vgpu.control.cluster.NodeOffer;
import io.vgpu.control.cluster.NodeView;
import io.vgpu.control.cluster.SiblingPlace;
import io.vgpu.control.cluster.Standing;
import io.vgpu.control.scheduler.policy.Look;
import io.vgpu.control.scheduler.policy.Policies;
import io.vgpu.control.scheduler.topology.Alignment;
import io.vgpu.control.scheduler.topology.SearchProbe;
import io.vgpu.control.testing.Nodes;
import io.vgpu.model.ContainerClaim;
import io.vgpu.model.DeviceClaim;
import io.vgpu.model.PodClaim;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import tools.jackson.databind.JsonNode;

/** Cases that one plan, or one ranking, answers. */
final class PlanCases {
  private final CaseNodes nodes;
  private final Allocator allocator = new Allocator(new Policies());

  PlanCases(CaseNodes nodes) {
    this.nodes = nodes;
  }

  void plan(JsonNode words) {
    String name = words.path("name").asString("n1");
    NodeView node = nodes.view(name, words);
    Alignment alignment = alignment(words);
    Standing standing = new Standing(node, node.cards(), node.hostTotal());
    for (int i = 0; i < words.path("times").asInt(1); i++) {
      Verdict verdict =
          allocator.plan(CaseNodes.pod(words).request(), standing, Look.DEEP, alignment);
      if (words.has("refused")) {
        refused(verdict, words);
      } else {
        fits(verdict, words);
      }
    }
  }

  private static void refused(Verdict verdict, JsonNode words) {
    assertThat(verdict).isInstanceOf(Verdict.Refused.class);
    Verdict.Refused refused = (Verdict.Refused) verdict;
    assertThat(refused.reason().code()).isEqualTo(words.get("refused").asString());
    assertThat(refused.detailed()).contains(words.path("says").asString(""));
  }

  private static void fits(Verdict verdict, JsonNode words) {
    assertThat(verdict).isInstanceOf(Verdict.Fits.class);
    Placement placement = ((Verdict.Fits) verdict).placement();
    if (words.has("claim")) {
      assertThat(text(placement.claim())).isEqualTo(words.get("claim").asString());
    }
    if (words.has("cards")) {
      assertThat(cards(placement)).isEqualTo(words.get("cards").asString());
    }
    if (words.has("within")) {
      assertThat(Set.of(words.get("within").asString().split(",", -1)))
          .containsAll(Set.of(cards(placement).split(",", -1)));
    }
    words
        .path("footprint")
        .properties()
        .forEach(
            e ->
                assertThat(placement.footprint().cards())
                    .containsEntry(
                        Nodes.uuid(Integer.parseInt(e.getKey())),
                        CaseNodes.use(e.getValue().asString())));
    if (words.has("result")) {
      assertThat(placement.closeness().word()).isEqualTo(words.get("result").asString());
    }
    if (words.has("window")) {
      assertThat(placement.window().word()).isEqualTo(words.get("window").asString());
    }
    if (words.has("fallback")) {
      String expected = words.get("fallback").asString();
      if (expected.isEmpty()) {
        assertThat(placement.fallbacks()).isEmpty();
      } else {
        assertThat(placement.fallbacks()).singleElement().asString().contains(expected);
      }
    }
  }

  static String text(PodClaim claim) {
    return claim.containers().stream().map(PlanCases::text).collect(Collectors.joining(";"));
  }

  private static String text(ContainerClaim c) {
    return c.devices().stream()
        .map(d -> d.index() + "/" + d.cores().value() + "/" + d.memory().value())
        .collect(Collectors.joining(",", c.container() + "[", "]"));
  }

  private static String cards(Placement placement) {
    return placement.claim().containers().getLast().devices().stream()
        .map(DeviceClaim::index)
        .map(String::valueOf)
        .collect(Collectors.joining(","));
  }

  private Alignment alignment(JsonNode words) {
    if (words.has("alignment")) {
      JsonNode given = words.get("alignment");
      Set<String> rails = new HashSet<>();
      given.get("rails").forEach(r -> rails.add("rail:" + r.asString()));
      return new Alignment(given.get("domain").asString(), rails, Map.of());
    }
    boolean asked = "true".equals(words.path("with").path("cross-pod-topology").asString("false"));
    if (!asked || !words.has("siblings")) {
      return Alignment.NONE;
    }
    List<SiblingPlace> places = new ArrayList<>();
    Map<String, NodeOffer.Offered> offers = new HashMap<>();
    for (JsonNode s : words.get("siblings")) {
      String node = s.get("node").asString();
      places.add(
          new SiblingPlace(
              node,
              List.of(s.get("cards").asString().split(",", -1)).stream()
                  .map(Integer::parseInt)
                  .map(Nodes::uuid)
                  .toList()));
      offers.put(node, (NodeOffer.Offered) nodes.view(node, s).offer());
    }
    Alignment alignment = Alignment.of(places, offers);
    if (words.has("domain")) {
      assertThat(alignment.domain()).isEqualTo(words.get("domain").asString());
    }
    return alignment;
  }

  void rank(JsonNode all, JsonNode words) {
    List<Standing> standing = new ArrayList<>();
    all.get("nodes")
        .properties()
        .forEach(
            e -> {
              NodeView node = nodes.view(e.getKey(), e.getValue());
              standing.add(new Standing(node, node.cards(), node.hostTotal()));
            });
    List<String> expected = words.get("order").valueStream().map(JsonNode::asString).toList();
    assertThat(
            new NodeRanking(allocator::assess)
                    .rank(
                        CaseNodes.pod(words).request(),
                        standing,
                        allocator.nodePolicy(CaseNodes.pod(words).request()),
                        Map::of)
                    .stream()
                    .map(a -> a.node().node().name())
                    .toList())
        .isEqualTo(expected);
  }

  void search(JsonNode words) {
    NodeView node = nodes.view("n1", words);
    SearchProbe.Found found =
        SearchProbe.find(((NodeOffer.Offered) node.offer()), words.get("number").asInt());
    assertThat(found.cards()).isEqualTo(words.get("cards").asString());
    assertThat(found.spanned()).isEqualTo(words.get("spanned").asBoolean());
  }
}
