package io.vgpu.control.scheduler;

import static org.assertj.core.api.Assertions.assertThat;

import io.vgpu.claim.ClaimCodec;
import io.vgpu.control.cluster.ClusterState.BoundPod;
import io.vgpu.control.cluster.Footprint;
import io.vgpu.control.cluster.NodeView;
import io.vgpu.control.cluster.PodRecord;
import io.vgpu.control.cluster.PodRequest;
import io.vgpu.control.cluster.PodTraits;
import io.vgpu.control.scheduler.PreemptArgs.Proposal;
import io.vgpu.control.scheduler.PreemptArgs.Victim;
import io.vgpu.control.scheduler.policy.Policies;
import io.vgpu.control.scheduler.topology.Alignment;
import io.vgpu.control.testing.Nodes;
import io.vgpu.control.testing.Pods;
import io.vgpu.model.PodClaim;
import io.vgpu.model.Use;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import tools.jackson.databind.JsonNode;

/** Cases about whose place a pod may take. */
final class PreemptCases {
  private final CaseNodes nodes;

  PreemptCases(CaseNodes nodes) {
    this.nodes = nodes;
  }

  void preempt(JsonNode words) {
    NodeView empty = nodes.view("n1", words);
    List<BoundPod> bound = new ArrayList<>();
    Use[] used = new Use[empty.cards().size()];
    words
        .get("pods")
        .properties()
        .forEach(
            e -> {
              int card = e.getValue().get("card").asInt();
              bound.add(pod(e.getKey(), e.getValue(), card));
              used[card] = new Use(1, 10, 100);
            });
    JsonNode preemptor = words.get("preemptor");
    PodRequest pod =
        traits(
            CaseNodes.pod(preemptor).request("preemptor"),
            new PodTraits(preemptor.get("priority").asInt(), false, false, "", "", 0, Map.of()));
    Proposal proposal =
        new Proposal(
            words
                .get("proposed")
                .valueStream()
                .map(n -> new Victim("uid-" + n.asString(), null))
                .toList(),
            words.path("violations").asLong(0));
    PreemptVerb.Answer answer =
        new PreemptVerb(new Allocator(new Policies()), p -> false, () -> 0)
            .run(
                pod,
                Map.of("n1", proposal),
                Map.of("n1", new PreemptVerb.Scene(Nodes.used(empty, used), bound)),
                Alignment.NONE);
    List<String> victims = words.get("victims").valueStream().map(JsonNode::asString).toList();
    if (victims.isEmpty()) {
      assertThat(answer.nodes()).isEmpty();
    } else {
      PreemptVerb.Chosen chosen =
          Objects.requireNonNull(answer.nodes().get("n1"), "a choice for n1");
      assertThat(chosen.victims())
          .extracting(v -> v.request().pod().name())
          .containsExactlyElementsOf(victims);
      assertThat(chosen.violations()).isEqualTo(words.get("violated").asLong());
    }
  }

  private static BoundPod pod(String name, JsonNode words, int card) {
    PodRequest request =
        traits(
            Pods.of(1, 10, 100).request(name),
            new PodTraits(
                words.get("priority").asInt(),
                false,
                words.path("owner").asString("").equals("DaemonSet"),
                "",
                "",
                0,
                Map.of()));
    PodClaim claim = ClaimCodec.decode("c1[" + card + "_" + Nodes.uuid(card) + "_10_100]");
    return new BoundPod(
        new PodRecord(request, "n1", false, false, ClaimCodec.encode(claim), "sealed"),
        Footprint.of(claim, request));
  }

  static PodRequest traits(PodRequest pod, PodTraits traits) {
    return new PodRequest(
        pod.pod(),
        pod.resourceVersion(),
        pod.demand(),
        pod.wishes(),
        pod.annotationBytes(),
        pod.zeroNumber(),
        pod.host(),
        traits);
  }

  void bounds(JsonNode words) {
    for (JsonNode b : words.get("bounds")) {
      assertThat(PreemptVerb.violations(b.get(0).asLong(), b.get(1).asLong(), b.get(2).asLong()))
          .as(b.toString())
          .isEqualTo(b.get(3).asLong());
    }
  }
}
