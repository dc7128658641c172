package io.vgpu.e2e.scale;

import io.fabric8.kubernetes.api.model.Pod;
import io.vgpu.claim.ClaimCodec;
import io.vgpu.claim.FormatException;
import io.vgpu.claim.Names;
import io.vgpu.e2e.burst.CardLedger;
import io.vgpu.kube.PodDemands;
import io.vgpu.model.ContainerClaim;
import io.vgpu.model.DeviceClaim;
import io.vgpu.model.GpuDevice;
import io.vgpu.model.PodClaim;
import io.vgpu.model.PodDemand;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Reckons anew, from the API's objects alone, whether what was promised to bound pods is what they
 * asked for, of their own node's cards, and within what those have. Pure.
 */
final class Promises {
  private static final Names NAMES = Names.DEFAULT;

  private final Map<String, List<GpuDevice>> cards;

  Promises(SimulatedNodes nodes) {
    this.cards = nodes.cards();
  }

  /** Every breach, in words; empty when all is as it should be. */
  List<String> breaches(List<Pod> pods) {
    List<String> breaches = new ArrayList<>();
    List<CardLedger.Holder> holders = new ArrayList<>();
    for (Pod pod : pods) {
      PodDemand demand = PodDemands.of(pod, NAMES);
      if (pod.getSpec().getNodeName() != null && demand.asksForVgpu()) {
        String text = pod.getMetadata().getAnnotations().getOrDefault(NAMES.preAllocated(), "");
        try {
          PodClaim claim = ClaimCodec.decode(text);
          holders.add(new CardLedger.Holder(demand, claim));
          breaches.addAll(kept(pod, demand, claim));
        } catch (FormatException e) {
          breaches.add(pod.getMetadata().getName() + ": claim \"" + text + "\": " + e.getMessage());
        }
      }
    }
    List<GpuDevice> all = cards.values().stream().flatMap(List::stream).toList();
    new CardLedger(all).overCommit(holders).ifPresent(breaches::add);
    return breaches;
  }

  private List<String> kept(Pod pod, PodDemand demand, PodClaim claim) {
    Set<String> here =
        cards.getOrDefault(pod.getSpec().getNodeName(), List.of()).stream()
            .map(c -> c.uuid().value())
            .collect(Collectors.toCollection(HashSet::new));
    List<String> breaches = new ArrayList<>();
    demand
        .vgpuContainers()
        .forEach(
            asked -> {
              List<DeviceClaim> got =
                  claim.of(asked.name()).map(ContainerClaim::devices).orElse(List.of());
              boolean right =
                  got.size() == asked.number()
                      && got.stream()
                          .allMatch(
                              d ->
                                  here.contains(d.uuid().value())
                                      && d.cores().value() == asked.cores()
                                      && d.memory().value() == asked.memory());
              if (!right) {
                breaches.add(
                    "%s on %s asked for %s and was promised %s"
                        .formatted(
                            pod.getMetadata().getName(), pod.getSpec().getNodeName(), asked, got));
              }
            });
    return breaches;
  }
}
