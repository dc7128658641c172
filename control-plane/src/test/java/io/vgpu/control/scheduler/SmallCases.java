package io.vgpu.control.scheduler;

import static org.assertj.core.api.Assertions.assertThat;

import io.vgpu.claim.ClaimCodec;
import io.vgpu.claim.ClaimReader;
import io.vgpu.claim.ClaimSeal;
import io.vgpu.control.cluster.ClusterState;
import io.vgpu.control.cluster.Footprint;
import io.vgpu.control.cluster.GangKey;
import io.vgpu.control.cluster.PodRecord;
import io.vgpu.control.cluster.PodRequest;
import io.vgpu.control.cluster.PodTraits;
import io.vgpu.control.testing.Nodes;
import io.vgpu.control.testing.Pods;
import io.vgpu.model.PodClaim;
import io.vgpu.model.Reason;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** Cases about one rule that needs no server: what counts, names, texts, bounds. */
final class SmallCases {
  private static final ClaimSeal SEAL = ClaimSeal.parse("0123456789abcdef0123456789abcdef");

  void counts(JsonNode words) {
    words
        .get("states")
        .properties()
        .forEach(
            e -> assertThat(counts(e.getKey())).as(e.getKey()).isEqualTo(e.getValue().asBoolean()));
  }

  /** Whether a pod in this state keeps another from having the only card. */
  private static boolean counts(String state) {
    AtomicLong now = new AtomicLong();
    ClusterState cluster = new ClusterState(new ClaimReader(() -> SEAL), 0, now::get, Nodes.QUIET);
    cluster.putNode(Nodes.record("n1", Nodes.u(1), io.vgpu.model.NodeConfig.DEFAULT));
    PodRequest pod = Pods.of(1, 0, 0).request("first");
    PodClaim claim = ClaimCodec.decode("c1[0_" + Nodes.uuid(0) + "_100_24000]");
    String sealed = SEAL.seal(pod.pod().uid(), claim);
    switch (state) {
      case "bound" -> cluster.putPod(bound(pod, "n1", false, false, claim, sealed));
      case "bound and finished" -> cluster.putPod(bound(pod, "n1", true, false, claim, sealed));
      case "terminating" -> cluster.putPod(bound(pod, "n1", false, true, claim, sealed));
      case "unbound, all keys forged" ->
          cluster.putPod(bound(pod, null, false, false, claim, "c1=00"));
      case "held 1 s ago", "held 3 s ago" -> {
        cluster.hold(pod.pod().uid(), "n1", Footprint.of(claim, pod));
        now.addAndGet(state.contains("1") ? 1_000_000_000L : 3_000_000_000L);
      }
      default -> throw new AssertionError("no such state: " + state);
    }
    cluster.publish();
    return cluster.snapshot().node("n1").orElseThrow().cardsFor("later", now.get(), true).stream()
        .anyMatch(c -> c.used().slots() > 0);
  }

  private static PodRecord bound(
      PodRequest pod,
      @Nullable String node,
      boolean terminal,
      boolean deleting,
      PodClaim claim,
      String seal) {
    return new PodRecord(pod, node, terminal, deleting, ClaimCodec.encode(claim), seal);
  }

  void eligible(JsonNode words) {
    for (JsonNode pair : words.get("pairs")) {
      assertThat(traits(pair.get("preemptor")).mayPreempt(traits(pair.get("candidate"))))
          .as(pair.toString())
          .isEqualTo(pair.get("may").asBoolean());
    }
  }

  private static PodTraits traits(JsonNode priority) {
    return new PodTraits(
        priority.isNull() ? null : priority.asInt(), false, false, "", "", 0, Map.of());
  }

  void aggregate(JsonNode words) {
    Map<String, Verdict.Refused> refused = new LinkedHashMap<>();
    words
        .get("reasons")
        .properties()
        .forEach(
            e ->
                e.getValue()
                    .forEach(
                        node ->
                            refused.put(
                                node.asString(), Verdict.Refused.of(reason(e.getKey()), "x"))));
    assertThat(AggregateText.of(words.get("candidates").asInt(), refused))
        .isEqualTo(words.get("says").asString());
  }

  private static Reason reason(String code) {
    return Arrays.stream(Reason.values())
        .filter(r -> r.code().equals(code))
        .findFirst()
        .orElseThrow();
  }

  void gang(JsonNode words) {
    String key = GangKey.of(words.get("namespace").asString(), words.get("reference").asString());
    for (JsonNode other : words.get("pairs")) {
      String its = GangKey.of(other.get("namespace").asString(), other.get("reference").asString());
      assertThat(its.equals(key)).as(its).isEqualTo(other.get("same").asBoolean());
    }
    assertThat(GangKey.of("team-a", " / ")).isEmpty();
  }
}
