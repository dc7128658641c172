package io.vgpu.control.testing;

import static org.assertj.core.api.Assertions.assertThat;

import io.vgpu.claim.ClaimCodec;
import io.vgpu.claim.Names;
import io.vgpu.control.cluster.Footprint;
import io.vgpu.model.ContainerClaim;
import io.vgpu.model.GpuUuid;
import io.vgpu.model.PodClaim;
import io.vgpu.model.PodDemand;
import io.vgpu.model.Use;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import tools.jackson.databind.node.ObjectNode;

/**
 * Adds up what bound pods take of each card, from the API server's objects alone, and fails when a
 * card is promised twice.
 */
public final class Ledger {
  private final Map<String, Map<GpuUuid, Use>> capacity;
  private final Map<String, PodDemand> demands;

  public Ledger(Map<String, Map<GpuUuid, Use>> capacity, Map<String, PodDemand> demands) {
    this.capacity = capacity;
    this.demands = demands;
  }

  /** Checks all bound pods; returns what each node's cards hold. */
  public Map<String, Map<GpuUuid, Use>> check(List<ObjectNode> bound) {
    Map<String, Map<GpuUuid, Use>> used = new HashMap<>();
    for (ObjectNode pod : bound) {
      String name = pod.path("metadata").path("name").stringValue();
      String node = pod.path("spec").path("nodeName").stringValue();
      Map<String, String> annotations = FakeObjects.annotations(pod);
      PodClaim claim =
          ClaimCodec.decode(annotations.getOrDefault(Names.DEFAULT.preAllocated(), ""));
      for (ContainerClaim c : claim.containers()) {
        assertThat(
                RunningExtender.seal()
                    .verify(
                        "uid-" + name, c, annotations.getOrDefault(Names.DEFAULT.claimHmac(), "")))
            .as("seal of %s/%s", name, c.container())
            .isTrue();
      }
      assertThat(annotations).containsEntry(Names.DEFAULT.predicateNode(), node);
      Footprint.of(claim, demands.getOrDefault(name, new PodDemand(List.of())))
          .cards()
          .forEach(
              (card, use) ->
                  used.computeIfAbsent(node, n -> new HashMap<>()).merge(card, use, Use::plus));
    }
    used.forEach((node, cards) -> cards.forEach((card, use) -> within(node, card, use)));
    return used;
  }

  private void within(String node, GpuUuid card, Use use) {
    Use has = capacity.getOrDefault(node, Map.of()).getOrDefault(card, Use.ZERO);
    assertThat(use).as("%s of %s within %s", card, node, has).matches(u -> u.within(has));
  }
}
