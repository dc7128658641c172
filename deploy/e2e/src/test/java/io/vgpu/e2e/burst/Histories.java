package io.vgpu.e2e.burst;

import io.vgpu.claim.ClaimCodec;
import io.vgpu.model.ContainerClaim;
import io.vgpu.model.ContainerDemand;
import io.vgpu.model.ContainerKind;
import io.vgpu.model.CorePercent;
import io.vgpu.model.DeviceClaim;
import io.vgpu.model.GpuUuid;
import io.vgpu.model.MemoryMiB;
import io.vgpu.model.PodClaim;
import io.vgpu.model.PodDemand;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** Makes histories by hand: one call per event. */
final class Histories {
  final PodHistory history;
  private long now;

  Histories(String... mayLackClaim) {
    history = new PodHistory(BurstNode.cards(), Set.of(mayLackClaim));
  }

  /** A pod's events; each call is one. */
  Life pod(String uid, String name, ContainerDemand... containers) {
    return new Life(
        new PodFact(
            uid,
            name,
            Optional.empty(),
            Optional.empty(),
            "Pending",
            "",
            Optional.empty(),
            Optional.empty(),
            Optional.empty(),
            false,
            false,
            false,
            Set.of(),
            Map.of(),
            false,
            new PodDemand(
                containers.length == 0 ? List.of(app("main", 1, 10, 1000)) : List.of(containers)),
            Map.of()));
  }

  static ContainerDemand app(String name, int number, int cores, int memory) {
    return new ContainerDemand(name, ContainerKind.APP, number, cores, memory);
  }

  static ContainerDemand init(String name, int number, int cores, int memory) {
    return new ContainerDemand(name, ContainerKind.INIT, number, cores, memory);
  }

  static ContainerDemand sidecar(String name, int number, int cores, int memory) {
    return new ContainerDemand(name, ContainerKind.SIDECAR, number, cores, memory);
  }

  /** A claim of the cards with these indices, as the container asks. */
  static ContainerClaim claim(ContainerDemand asked, int... cards) {
    return new ContainerClaim(
        asked.name(),
        Arrays.stream(cards)
            .mapToObj(
                i ->
                    new DeviceClaim(
                        i,
                        new GpuUuid(BurstNode.uuids().get(i)),
                        new CorePercent((int) asked.cores()),
                        new MemoryMiB(asked.memory())))
            .toList());
  }

  final class Life {
    private PodFact fact;

    private Life(PodFact first) {
      fact = first;
      tell(first, false);
    }

    private Life tell(PodFact next, boolean deleted) {
      fact = next;
      history.accept(next, deleted, now += 10);
      return this;
    }

    String uid() {
      return fact.uid();
    }

    Life bound(ContainerClaim... claims) {
      return boundWith(ClaimCodec.encode(new PodClaim(List.of(claims))));
    }

    Life boundWith(String claim) {
      return tell(with("Pending", Optional.of("n0"), Optional.of(claim), fact.replaces()), false);
    }

    Life boundWithoutClaim() {
      return tell(with("Pending", Optional.of("n0"), Optional.empty(), fact.replaces()), false);
    }

    Life running(String... containers) {
      return tell(with(phased("Running"), false, Set.of(containers), false), false);
    }

    /** The API server hears that it has ended, at that time. */
    Life ended(String container, Instant at) {
      PodFact f = phased(fact.phase());
      Map<String, Instant> ended = Map.of(container, at);
      return tell(
          fact(
              f,
              f.phase(),
              f.node(),
              f.claim(),
              f.replaces(),
              false,
              Set.of(),
              ended,
              false,
              f.annotations()),
          false);
    }

    Life phase(String phase) {
      return tell(phased(phase), false);
    }

    Life replaces(String uid) {
      return tell(with(fact.phase(), fact.node(), fact.claim(), Optional.of(uid)), false);
    }

    Life marked() {
      return tell(with(fact, true, fact.running(), false), false);
    }

    Life wishing(String key, String value) {
      PodFact f = with(fact, false, fact.running(), false);
      return tell(annotated(f, Map.of(key, value)), false);
    }

    /** Failed because its kubelet was killed while it started the container. */
    Life brokenOff() {
      return tell(with(phased("Failed"), false, Set.of(), true), false);
    }

    Life gone() {
      return tell(fact, true);
    }

    private PodFact phased(String phase) {
      return with(phase, fact.node(), fact.claim(), fact.replaces());
    }

    private static PodFact with(PodFact f, boolean marked, Set<String> running, boolean brokenOff) {
      return fact(
          f,
          f.phase(),
          f.node(),
          f.claim(),
          f.replaces(),
          marked,
          running,
          Map.of(),
          brokenOff,
          f.annotations());
    }

    private static PodFact annotated(PodFact f, Map<String, String> annotations) {
      return fact(
          f,
          f.phase(),
          f.node(),
          f.claim(),
          f.replaces(),
          f.marked(),
          f.running(),
          f.ended(),
          f.brokenOff(),
          annotations);
    }

    private PodFact with(
        String phase, Optional<String> node, Optional<String> claim, Optional<String> replaces) {
      return fact(
          fact, phase, node, claim, replaces, false, Set.of(), Map.of(), false, fact.annotations());
    }

    private static PodFact fact(
        PodFact of,
        String phase,
        Optional<String> node,
        Optional<String> claim,
        Optional<String> replaces,
        boolean marked,
        Set<String> running,
        Map<String, Instant> ended,
        boolean brokenOff,
        Map<String, String> annotations) {
      return new PodFact(
          of.uid(),
          of.name(),
          of.job(),
          node,
          phase,
          "",
          claim,
          claim.map(c -> "seal"),
          replaces,
          false,
          false,
          marked,
          running,
          ended,
          brokenOff,
          of.demand(),
          annotations);
    }
  }
}
