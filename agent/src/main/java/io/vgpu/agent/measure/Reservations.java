package io.vgpu.agent.measure;

import io.vgpu.agent.kube.NodePod;
import io.vgpu.claim.ClaimReader;
import io.vgpu.claim.Names;
import io.vgpu.model.ContainerClaim;
import io.vgpu.model.DeviceClaim;
import io.vgpu.model.GpuUuid;
import io.vgpu.model.Phases;
import io.vgpu.model.PodClaim;
import io.vgpu.model.Use;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/**
 * What the pods bound to this node hold of each card (node-agent.md 7.3): the scheduler's own
 * reduction over their sealed claims, so that both count the same. Seals are verified once a pod.
 * Any thread.
 */
public final class Reservations {
  private final Names names;
  private final ClaimReader claims;
  private Map<Carried, Optional<PodClaim>> known = Map.of(); // of the pods seen last

  /** What a pod carries; equal carryings need not be looked at again. */
  private record Carried(String uid, String claim, String seal) {}

  /** {@code claims}: believes what is sealed. */
  public Reservations(Names names, ClaimReader claims) {
    this.names = names;
    this.claims = claims;
  }

  /**
   * All of them together; immutable.
   *
   * @param running containers with a claim to the card that run now
   */
  public record Reserved(Map<GpuUuid, Use> cards, Map<GpuUuid, Integer> running) {
    public static final Reserved NOTHING = new Reserved(Map.of(), Map.of());

    public Reserved {
      cards = Map.copyOf(cards);
      running = Map.copyOf(running);
    }

    /** What is held of one card. */
    public Use of(GpuUuid card) {
      return cards.getOrDefault(card, Use.ZERO);
    }
  }

  /** Of these pods; those that ended hold nothing. */
  public synchronized Reserved of(List<NodePod> pods) {
    Map<Carried, Optional<PodClaim>> seen = new HashMap<>();
    Map<GpuUuid, Use> cards = new HashMap<>();
    Map<GpuUuid, Integer> running = new HashMap<>();
    for (NodePod pod : pods) {
      if (pod.terminal() || pod.annotation(names.preAllocated()).isEmpty()) {
        continue;
      }
      Carried carried =
          new Carried(
              pod.ref().uid(),
              pod.annotation(names.preAllocated()),
              pod.annotation(names.claimHmac()));
      Optional<PodClaim> claim = known.containsKey(carried) ? known(carried) : read(carried);
      seen.put(carried, claim);
      claim.ifPresent(
          c -> {
            Phases.perCard(c, pod.demand())
                .forEach((card, use) -> cards.merge(card, use, Use::plus));
            countRunning(c, pod, running);
          });
    }
    known = seen;
    return new Reserved(cards, running);
  }

  private Optional<PodClaim> known(Carried carried) {
    return Objects.requireNonNullElse(known.get(carried), Optional.empty());
  }

  private Optional<PodClaim> read(Carried carried) {
    return claims.read(carried.uid(), carried.claim(), carried.seal())
            instanceof ClaimReader.Reading.Sealed(PodClaim claim)
        ? Optional.of(claim)
        : Optional.empty();
  }

  private static void countRunning(PodClaim claim, NodePod pod, Map<GpuUuid, Integer> running) {
    for (ContainerClaim c : claim.containers()) {
      if (pod.running().contains(c.container())) {
        c.devices().stream()
            .map(DeviceClaim::uuid)
            .forEach(card -> running.merge(card, 1, Integer::sum));
      }
    }
  }
}
