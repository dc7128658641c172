package io.vgpu.e2e.burst;

import io.vgpu.claim.ClaimCodec;
import io.vgpu.claim.FormatException;
import io.vgpu.claim.Names;
import io.vgpu.e2e.burst.Finding.Check;
import io.vgpu.model.ContainerClaim;
import io.vgpu.model.ContainerDemand;
import io.vgpu.model.DeviceClaim;
import io.vgpu.model.GpuDevice;
import io.vgpu.model.PodClaim;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Follows all pods of the burst, event by event in the API server's order, and notes at once what
 * must not be: a card promised beyond its capacity, a claim that changes, that is not what was
 * asked for, or that is absent from a bound pod. Safe for several threads; no input or output.
 */
final class PodHistory {
  private static final Names NAMES = Names.DEFAULT;

  private final Map<String, GpuDevice> cards = new LinkedHashMap<>();
  private final CardLedger ledger;
  private final Set<String> mayLackClaim;
  private final Map<String, Incarnation> byUid = new LinkedHashMap<>();
  private final List<Finding> findings = new ArrayList<>();
  private Optional<String> overCommit = Optional.empty();
  private long events;

  /**
   * @param mayLackClaim names of pods whose first incarnation is put on the node without the
   *     scheduler
   */
  PodHistory(Collection<GpuDevice> cards, Set<String> mayLackClaim) {
    cards.forEach(c -> this.cards.put(c.uuid().value(), c));
    this.ledger = new CardLedger(cards);
    this.mayLackClaim = Set.copyOf(mayLackClaim);
  }

  /** One event of the watch; {@code deleted}: the pod is gone. */
  synchronized void accept(PodFact fact, boolean deleted, long atMs) {
    events++;
    Incarnation pod = byUid.get(fact.uid());
    if (pod == null) {
      pod = new Incarnation(byUid.size(), fact);
      byUid.put(fact.uid(), pod);
    } else {
      unchanged("claim", pod.last(), fact, PodFact::claim);
      unchanged("seal", pod.last(), fact, PodFact::seal);
      unchanged("node", pod.last(), fact, PodFact::node);
    }
    pod.accept(fact, deleted, atMs);
    if (pod.claim().isEmpty() && fact.claim().isPresent()) {
      claimed(pod, fact, fact.claim().get());
    }
    if (fact.node().isPresent()
        && (fact.claim().isEmpty() || fact.seal().isEmpty())
        && !isWithoutScheduler(fact)) {
      note(
          Finding.about(Check.CLAIM, fact.uid(), fact.name() + " is bound without a sealed claim"));
    }
    reckon(fact, atMs);
  }

  private void unchanged(
      String what, PodFact before, PodFact now, Function<PodFact, Optional<String>> part) {
    if (part.apply(before).isPresent() && !part.apply(before).equals(part.apply(now))) {
      note(
          Finding.about(
              Check.CLAIM,
              now.uid(),
              "%s of %s changed from %s to %s"
                  .formatted(
                      what,
                      now.name(),
                      part.apply(before).get(),
                      part.apply(now).orElse("(nothing)"))));
    }
  }

  private void claimed(Incarnation pod, PodFact fact, String text) {
    PodClaim claim;
    try {
      claim = ClaimCodec.decode(text);
    } catch (FormatException e) {
      note(Finding.about(Check.CLAIM, fact.uid(), "unreadable claim: " + e.getMessage()));
      return;
    }
    pod.claimed(claim);
    List<ContainerDemand> asked = fact.demand().vgpuContainers();
    List<String> names = claim.containers().stream().map(ContainerClaim::container).toList();
    if (!names.equals(asked.stream().map(ContainerDemand::name).toList())) {
      note(
          Finding.about(
              Check.CLAIM, fact.uid(), "claim " + text + " is not for the containers " + asked));
      return;
    }
    for (int i = 0; i < asked.size(); i++) {
      compare(fact, asked.get(i), claim.containers().get(i));
    }
  }

  /** The claim against the request: number, cores and memory (factor 1), the cards wished for. */
  private void compare(PodFact fact, ContainerDemand asked, ContainerClaim claim) {
    boolean right =
        claim.devices().size() == asked.number()
            && claim.devices().stream()
                .allMatch(
                    d ->
                        d.cores().value() == asked.cores() && d.memory().value() == asked.memory());
    if (!right) {
      note(
          Finding.about(
              Check.CLAIM, fact.uid(), "claim " + claim + " is not what was asked for: " + asked));
    }
    for (DeviceClaim d : claim.devices()) {
      GpuDevice card = cards.get(d.uuid().value());
      if (card == null || card.id() != d.index()) {
        note(
            Finding.about(
                Check.CLAIM, fact.uid(), "claim " + claim + " names a card that the node has not"));
      } else if (!wished(fact, card)) {
        note(
            Finding.about(
                Check.CLAIM,
                fact.uid(),
                "claim " + claim + " has a card that the pod does not want: " + card.uuid()));
      }
    }
  }

  private static boolean wished(PodFact fact, GpuDevice card) {
    Map<String, String> a = fact.annotations();
    String uuid = card.uuid().value();
    return names(a.get(NAMES.includeGpuType()), card.type(), true)
        && !names(a.get(NAMES.excludeGpuType()), card.type(), false)
        && names(a.get(NAMES.includeGpuUuid()), uuid, true)
        && !names(a.get(NAMES.excludeGpuUuid()), uuid, false);
  }

  /** Whether a comma list names the value (control-plane.md 2.3). */
  private static boolean names(@Nullable String list, String value, boolean whenAbsent) {
    List<String> entries =
        list == null
            ? List.of()
            : Stream.of(list.split(",", -1)).map(String::strip).filter(e -> !e.isEmpty()).toList();
    String upper = value.toUpperCase(Locale.ROOT);
    return entries.isEmpty()
        ? whenAbsent
        : entries.stream().anyMatch(e -> upper.contains(e.toUpperCase(Locale.ROOT)));
  }

  private boolean isWithoutScheduler(PodFact fact) {
    return mayLackClaim.contains(fact.name()) && fact.replaces().isEmpty();
  }

  private void reckon(PodFact event, long atMs) {
    List<CardLedger.Holder> holders =
        byUid.values().stream()
            .filter(p -> p.holds() && p.claim().isPresent())
            .map(p -> new CardLedger.Holder(p.last().demand(), p.claim().orElseThrow()))
            .toList();
    Optional<String> now = ledger.overCommit(holders);
    if (now.isPresent() && !now.equals(overCommit)) {
      note(
          Finding.about(
              Check.OVER_COMMIT,
              event.uid(),
              "at %.3f s, when %s became %s: %s"
                  .formatted(atMs / 1e3, event.name(), event.line(), now.get())));
    }
    overCommit = now;
  }

  private void note(Finding finding) {
    if (!findings.contains(finding)) {
      findings.add(finding);
    }
  }

  synchronized List<Finding> findings() {
    return List.copyOf(findings);
  }

  /** All pods in the order in which they were first seen. */
  synchronized List<Incarnation> all() {
    return List.copyOf(byUid.values());
  }

  synchronized Optional<Incarnation> byUid(String uid) {
    return Optional.ofNullable(byUid.get(uid));
  }

  /** The pods that bore the name, first to last. */
  synchronized List<Incarnation> named(String name) {
    return byUid.values().stream().filter(p -> p.name().equals(name)).toList();
  }

  /** The pods that a Job made, first to last. */
  synchronized List<Incarnation> ofJob(String job) {
    return byUid.values().stream().filter(p -> p.last().job().equals(Optional.of(job))).toList();
  }

  /** How many events there were: without any, nothing was witnessed. */
  synchronized long events() {
    return events;
  }
}
