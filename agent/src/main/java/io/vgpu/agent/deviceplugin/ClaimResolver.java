package io.vgpu.agent.deviceplugin;

import io.vgpu.agent.deviceplugin.AdmittedPod.Admitted;
import io.vgpu.agent.deviceplugin.PodEntry.Held;
import io.vgpu.agent.deviceplugin.PodEntry.Stage;
import io.vgpu.agent.deviceplugin.PodEntry.Turn;
import io.vgpu.agent.deviceplugin.Seen.Asked;
import io.vgpu.agent.kube.NodePod;
import io.vgpu.claim.ClaimCodec;
import io.vgpu.claim.ClaimSeal;
import io.vgpu.claim.FormatException;
import io.vgpu.claim.Names;
import io.vgpu.model.ContainerClaim;
import io.vgpu.model.DemandCheck;
import io.vgpu.model.GpuUuid;
import io.vgpu.model.PodClaim;
import io.vgpu.model.PodRef;
import io.vgpu.model.Reason;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * From a pod's claim to ids, and from ids back to the claim (node-agent.md 2.7). Pure: reads its
 * arguments, changes nothing, fails closed.
 *
 * @param seal the present keys
 * @param library file name of the library that containers get from now on
 * @param honor gate HonorPreAllocatedDeviceIDs: false stops preferring, identity stays
 */
record ClaimResolver(
    String node, Names names, Supplier<ClaimSeal> seal, String library, boolean honor) {
  /** What the kubelet offers. */
  record Offer(List<String> available, List<String> mustInclude, int size) {}

  /** The ids to answer, and the ledger that must be on disk before. */
  record Proposal(List<String> ids, PodRef pod, Ledger ledger) {}

  /** Whose ids these are, and the ledger once the container has its files. */
  record Allocation(PodEntry entry, ContainerClaim claim, Ledger ledger) {
    PodRef pod() {
      return entry.pod();
    }
  }

  /** Chooses ids for the container whose turn it is. */
  Outcome<Proposal> propose(Admitted admitted, Offer offer, Ledger ledger) {
    NodePod pod = admitted.pod();
    Turn turn = admitted.turn();
    return switch (sealed(pod, turn.container())) {
      case Outcome.Refused<PodClaim> r -> r.as();
      case Outcome.Given<PodClaim>(PodClaim claim) -> {
        PodEntry entry = entry(pod, claim, ledger);
        ContainerClaim wanted = claim.of(turn.container()).orElseThrow();
        if (turn.number() != wanted.devices().size() || offer.size() != wanted.devices().size()) {
          yield Outcome.refused(
              pod.ref(),
              Reason.DEVICE_COUNT_MISMATCH,
              "container %s requests %d, kubelet asks for %d, allocation has %d"
                  .formatted(
                      turn.container(), turn.number(), offer.size(), wanted.devices().size()));
        }
        yield ids(entry, wanted, offer, ledger)
            .map(
                ids ->
                    Outcome.given(
                        new Proposal(
                            ids,
                            pod.ref(),
                            ledger.with(
                                entry.with(
                                    turn.container(), new LinkedHashSet<>(ids), Stage.PROPOSED)))))
            .orElseGet(
                () ->
                    Outcome.refused(
                        pod.ref(), Reason.CLAIM_UNSATISFIABLE, unsatisfiable(wanted, offer)));
      }
    };
  }

  /** The pod's claim, believed only for this node and with the seal of the container's entry. */
  Outcome<PodClaim> sealed(NodePod pod, String container) {
    Optional<String> breach = DemandCheck.firstBreach(pod.demand());
    if (breach.isPresent()) {
      return Outcome.refused(pod.ref(), Reason.DEMAND_INVALID, breach.get());
    }
    String text = pod.annotation(names.preAllocated());
    if (text.isBlank()) {
      return Outcome.refused(
          pod.ref(), Reason.CLAIM_MISSING, "annotation " + names.preAllocated() + " is empty");
    }
    PodClaim claim;
    try {
      claim = ClaimCodec.decode(text);
    } catch (FormatException e) {
      return Outcome.refused(pod.ref(), Reason.CLAIM_MALFORMED, String.valueOf(e.getMessage()));
    }
    String claimedNode = pod.annotation(names.predicateNode());
    if (!claimedNode.equals(node)) {
      return Outcome.refused(
          pod.ref(),
          Reason.CLAIM_OTHER_NODE,
          names.predicateNode() + " is \"" + claimedNode + "\", this is " + node);
    }
    Optional<ContainerClaim> entry = claim.of(container);
    if (entry.isEmpty()) {
      return Outcome.refused(
          pod.ref(),
          Reason.CLAIM_MISSING,
          "the allocation has no entry for container " + container);
    }
    if (!seal.get().verify(pod.ref().uid(), entry.get(), pod.annotation(names.claimHmac()))) {
      return Outcome.refused(
          pod.ref(),
          Reason.CLAIM_FORGED,
          names.claimHmac() + " does not cover the entry of container " + container);
    }
    return Outcome.given(claim);
  }

  /** The pod's entry, with what it holds already. */
  PodEntry entry(NodePod pod, PodClaim claim, Ledger ledger) {
    Map<String, Held> held =
        ledger.entry(pod.ref().uid()).map(PodEntry::held).orElse(new LinkedHashMap<>());
    return new PodEntry(
        pod.ref(),
        claim,
        pod.annotation(names.claimHmac()),
        pod.annotation(names.computePolicy()),
        pod.annotation(names.latency()).strip().equalsIgnoreCase("true"),
        PodEntry.turns(pod.demand()),
        held,
        false);
  }

  private Optional<List<String>> ids(
      PodEntry entry, ContainerClaim wanted, Offer offer, Ledger ledger) {
    String uid = entry.pod().uid();
    Set<String> insisted = new LinkedHashSet<>(offer.mustInclude());
    Held before = entry.held().get(wanted.container());
    // an init container's ids are also those of the container that uses them again
    Set<String> mine = before == null ? Set.of() : before.ids();
    List<String> free = new ArrayList<>();
    for (String id : offer.available()) {
      boolean ownElsewhere =
          !mine.contains(id)
              && entry.held().entrySet().stream()
                  .anyMatch(
                      h ->
                          !h.getKey().equals(wanted.container())
                              && h.getValue().ids().contains(id));
      if (!insisted.contains(id) && !ownElsewhere && !ledger.heldByAnother(id, uid)) {
        free.add(id);
      }
    }
    if (insisted.stream().anyMatch(id -> ledger.heldByAnother(id, uid))) {
      return Optional.empty();
    }
    free.sort(
        java.util.Comparator.comparing((String id) -> !mine.contains(id))
            .thenComparing(DeviceIds.ORDER));
    return honor ? ofClaim(wanted, insisted, free) : anyOf(offer.size(), insisted, free);
  }

  /** The insisted ones, which must be claimed, then for each other claimed card any id of it. */
  private static Optional<List<String>> ofClaim(
      ContainerClaim wanted, Set<String> insisted, List<String> free) {
    List<String> ids = new ArrayList<>();
    Set<GpuUuid> open = new LinkedHashSet<>(wanted.uuids());
    for (String id : insisted) {
      Optional<GpuUuid> gpu = DeviceIds.gpu(id);
      if (gpu.isEmpty() || !open.remove(gpu.get())) {
        return Optional.empty();
      }
      ids.add(id);
    }
    for (GpuUuid gpu : open) {
      Optional<String> id =
          free.stream().filter(f -> DeviceIds.gpu(f).filter(gpu::equals).isPresent()).findFirst();
      if (id.isEmpty()) {
        return Optional.empty();
      }
      ids.add(id.get());
    }
    return Optional.of(ids);
  }

  private static Optional<List<String>> anyOf(int size, Set<String> insisted, List<String> free) {
    List<String> ids = new ArrayList<>(insisted);
    free.stream().limit(Math.max(0, size - ids.size())).forEach(ids::add);
    return ids.size() == size ? Optional.of(ids) : Optional.empty();
  }

  private static String unsatisfiable(ContainerClaim wanted, Offer offer) {
    return "container "
        + wanted.container()
        + " claims "
        + wanted.uuids()
        + ", the kubelet offers "
        + offer.available().size()
        + " devices and insists on "
        + offer.mustInclude()
        + ", and no free one of each claimed card is among them";
  }

  /**
   * Whose ids the kubelet asks to allocate: those proposed, or an init container's used again.
   *
   * @param last the container that was answered last in this life of the kubelet
   */
  Outcome<Allocation> allocate(List<String> requested, Ledger ledger, Optional<Asked> last) {
    Set<String> ids = new HashSet<>(requested);
    for (PodEntry e : ledger.standing()) {
      for (Map.Entry<String, Held> h : e.held().entrySet()) {
        if (h.getValue().stage() == Stage.PROPOSED && h.getValue().ids().equals(ids)) {
          return settled(e, h.getKey(), ids, ledger);
        }
      }
    }
    List<Outcome<Allocation>> meant = new ArrayList<>();
    for (PodEntry e : ledger.standing()) {
      for (Turn t : following(e, last)) {
        if (isReuse(ids, e, t)) {
          meant.add(settled(e, t.container(), ids, ledger));
        }
      }
    }
    List<Allocation> possible =
        meant.stream()
            .flatMap(
                m ->
                    m instanceof Outcome.Given<Allocation>(Allocation a)
                        ? Stream.of(a)
                        : Stream.<Allocation>of())
            .toList();
    if (possible.size() > 1) {
      return Outcome.refused(
          possible.getFirst().pod(),
          Reason.POD_AMBIGUOUS,
          "container "
              + possible.stream()
                  .map(a -> a.claim().container())
                  .collect(Collectors.joining(" or ")));
    }
    if (possible.isEmpty()) {
      return meant.isEmpty()
          ? Outcome.refused(Reason.DEVICES_NOT_PROPOSED, "nobody was offered exactly " + requested)
          : meant.getFirst();
    }
    return Outcome.given(possible.getFirst());
  }

  /**
   * The containers that the kubelet can come to without a question. It goes on from the one that it
   * was answered for; where we do not remember that, from the first without devices, and it may
   * begin anew. What it asked to start before may run, and is passed over then.
   */
  private static List<Turn> following(PodEntry e, Optional<Asked> last) {
    Optional<Asked> ours = last.filter(l -> l.uid().equals(e.pod().uid()));
    if (ours.isEmpty()) {
      return e.next().map(List::of).orElse(e.order());
    }
    List<Turn> after = Seen.after(e.order(), ours.get().container());
    if (after.isEmpty()) {
      return e.order();
    }
    List<Turn> turns = new ArrayList<>();
    for (Turn t : after) {
      turns.add(t);
      if (!e.asked(t.container())) {
        break;
      }
    }
    return turns;
  }

  private static boolean isReuse(Set<String> ids, PodEntry entry, Turn next) {
    return !ids.isEmpty() && entry.reusableBefore(next.container()).containsAll(ids);
  }

  /** Whether the noted claim still carries a seal of a present key. */
  boolean isSealed(Allocation a) {
    return seal.get().verify(a.pod().uid(), a.claim(), a.entry().seal());
  }

  private Outcome<Allocation> settled(
      PodEntry entry, String container, Set<String> ids, Ledger ledger) {
    Optional<ContainerClaim> claim = entry.claimOf(container);
    if (claim.isEmpty()) {
      return Outcome.refused(
          entry.pod(),
          Reason.CLAIM_MISSING,
          "the allocation has no entry for container " + container);
    }
    if (!seal.get().verify(entry.pod().uid(), claim.get(), entry.seal())) {
      return Outcome.refused(
          entry.pod(),
          Reason.CLAIM_FORGED,
          names.claimHmac() + " does not cover the entry of container " + container);
    }
    int wanted = claim.get().devices().size();
    if (ids.size() != wanted) {
      return Outcome.refused(
          entry.pod(),
          Reason.DEVICE_COUNT_MISMATCH,
          "container " + container + " is given " + ids.size() + " ids, allocation has " + wanted);
    }
    if (honor && !cards(ids).equals(new HashSet<>(claim.get().uuids()))) {
      return Outcome.refused(
          entry.pod(),
          Reason.CLAIM_UNSATISFIABLE,
          "container " + container + " claims " + claim.get().uuids() + " and is given " + ids);
    }
    PodEntry attached = entry.attached(container, ids, library);
    return Outcome.given(new Allocation(attached, claim.get(), ledger.with(attached)));
  }

  private static Set<GpuUuid> cards(Set<String> ids) {
    Set<GpuUuid> cards = new HashSet<>();
    ids.forEach(id -> DeviceIds.gpu(id).ifPresent(cards::add));
    return cards;
  }

  /** The containers of one pod that own just these ids; more than one where ids were used again. */
  static List<Allocation> owners(Set<String> ids, Ledger ledger) {
    List<Allocation> owners = new ArrayList<>();
    for (PodEntry e : ledger.standing()) {
      for (Map.Entry<String, Held> h : e.held().entrySet()) {
        if (h.getValue().stage() == Stage.ATTACHED && h.getValue().ids().equals(ids)) {
          e.claimOf(h.getKey()).ifPresent(c -> owners.add(new Allocation(e, c, ledger)));
        }
      }
    }
    return owners;
  }
}
