package io.vgpu.control.cluster;

import io.vgpu.claim.ClaimReader;
import io.vgpu.claim.CordonCodec;
import io.vgpu.model.GpuUuid;
import io.vgpu.model.Use;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The cluster as the scheduler knows it, kept incrementally: annotation texts are read once, claims
 * come and go with their pods (control-plane.md 3.4, 3.5). Bound pods with a sealed claim count,
 * and commits in flight until the watch or the API has spoken of them; nothing else does.
 *
 * <p>Everything but {@link #snapshot()} belongs to lane {@code scheduler}. Changes become visible
 * to readers with {@link #publish()}.
 */
public final class ClusterState {
  private final ClaimReader claims;
  private final int coreHeadroom;
  private final LongSupplier nanoTime;
  private final Listener listener;

  private final Map<String, NodeEntry> nodes = new HashMap<>();
  private final Map<String, PodEntry> pods = new HashMap<>();
  private final Map<String, List<Reservation>> reservations = new LinkedHashMap<>();
  private final SoftHolds holds = new SoftHolds();
  private final Siblings siblings = new Siblings();
  private final Set<String> dirty = new HashSet<>();
  private boolean namesChanged;
  private volatile ClusterSnapshot snapshot = ClusterSnapshot.EMPTY;

  /** Told of what deserves a log line or a count; called on the lane. */
  public interface Listener {
    /** A bound pod asks for vGPUs, but nothing of it counts; once per pod and state. */
    void uncounted(PodRecord pod, String why);

    /** A pod was first seen on a node; {@code offer} is the node's, when it is known. */
    default void bound(PodRecord pod, @Nullable NodeOffer offer) {}

    /**
     * Of a node's {@code device-cordon} some cannot be read, and cordons nothing; once per text.
     */
    default void badCordon(String node, String problem) {}

    /** A card's bound pods use more than it has, e.g. after it was divided anew. */
    void overcommitted(String node, GpuUuid card, Use used, Use total);
  }

  private static final class NodeEntry {
    @Nullable NodeRecord record;
    @Nullable NodeOffer offer;
    final Map<GpuUuid, Use> used = new HashMap<>();
    Host hostUsed = Host.ZERO;
    final Set<GpuUuid> overcommitted = new HashSet<>();
    final Map<String, PodEntry> bound = new LinkedHashMap<>();
  }

  /** A pod, and the charge that stands for it on a node. */
  private record PodEntry(PodRecord record, @Nullable String chargedNode, Footprint charge) {}

  public ClusterState(
      ClaimReader claims, int coreHeadroom, LongSupplier nanoTime, Listener listener) {
    this.claims = claims;
    this.coreHeadroom = coreHeadroom;
    this.nanoTime = nanoTime;
    this.listener = listener;
  }

  /** The last published state. Any thread. */
  public ClusterSnapshot snapshot() {
    return snapshot;
  }

  // ---- nodes

  /** A node was added or changed; unchanged texts are not read again. */
  public void putNode(NodeRecord node) {
    NodeEntry entry = nodes.computeIfAbsent(node.name(), n -> new NodeEntry());
    if (node.equals(entry.record)) {
      return;
    }
    namesChanged |= entry.record == null;
    if (entry.record == null || !sameText(entry.record.cordon(), node.cordon())) {
      String problem = CordonCodec.read(node.cordon()).problem();
      if (!problem.isEmpty()) {
        listener.badCordon(node.name(), problem);
      }
    }
    entry.record = node;
    entry.offer = NodeOffer.of(node);
    dirty.add(node.name());
  }

  /** A node is gone; what its pods use is kept as long as they exist. */
  public void removeNode(String name) {
    NodeEntry entry = nodes.get(name);
    if (entry != null && entry.record != null) {
      entry.record = null;
      entry.offer = null;
      namesChanged = true;
      forget(name, entry);
    }
  }

  /** All nodes there are. */
  public void replaceNodes(List<NodeRecord> all) {
    Set<String> names = new HashSet<>();
    all.forEach(n -> names.add(n.name()));
    for (String name : List.copyOf(nodes.keySet())) {
      if (!names.contains(name)) {
        removeNode(name);
      }
    }
    all.forEach(this::putNode);
  }

  private void forget(String name, NodeEntry entry) {
    if (entry.record == null && entry.bound.isEmpty()) {
      nodes.remove(name);
    }
  }

  // ---- pods

  /** A pod was added or changed. */
  public void putPod(PodRecord pod) {
    PodEntry before = pods.get(pod.uid());
    if (before != null && before.record().equals(pod)) {
      return;
    }
    PodEntry after = entryOf(pod, before);
    pods.put(pod.uid(), after);
    if (before != null) {
      uncharge(before);
    }
    charge(after);
    String name = pod.nodeName();
    if (name != null && (before == null || before.record().nodeName() == null)) {
      NodeEntry node = nodes.get(name);
      listener.bound(pod, node == null ? null : node.offer);
    }
    if (pod.nodeName() != null || pod.terminal()) {
      // the watch has spoken: at most one bind of a pod can have won
      settled(pod.uid());
    }
  }

  private PodEntry entryOf(PodRecord pod, @Nullable PodEntry before) {
    if (pod.nodeName() == null || pod.terminal()) {
      return new PodEntry(pod, null, Footprint.NONE);
    }
    if (before != null
        && before.chargedNode() != null
        && before.chargedNode().equals(pod.nodeName())) {
      boolean unchanged =
          sameText(before.record().claim(), pod.claim())
              && sameText(before.record().seal(), pod.seal());
      if (!unchanged && !before.charge().cards().isEmpty()) {
        // what was sealed at the bind is what the pod holds until it ends: whoever damages the text
        // frees no card
        listener.uncounted(
            pod, "its claim was changed after the bind; the first one goes on to count");
      }
      if (unchanged || !before.charge().cards().isEmpty()) {
        return new PodEntry(
            pod,
            before.chargedNode(),
            new Footprint(before.charge().cards(), pod.request().host()));
      }
    }
    if (pod.claim() == null && pod.request().demand().containers().isEmpty()) {
      // it has no card, but its CPU may be what a card would have needed
      return new PodEntry(pod, pod.nodeName(), Footprint.of(pod.request().host()));
    }
    return switch (claims.read(pod.uid(), pod.claim(), pod.seal())) {
      case ClaimReader.Reading.Sealed sealed ->
          new PodEntry(pod, pod.nodeName(), Footprint.of(sealed.claim(), pod.request()));
      case ClaimReader.Reading.Nothing nothing -> {
        listener.uncounted(pod, nothing.why());
        yield new PodEntry(pod, pod.nodeName(), Footprint.of(pod.request().host()));
      }
    };
  }

  private static boolean sameText(@Nullable String a, @Nullable String b) {
    return a == null ? b == null : a.equals(b);
  }

  /** A pod is gone. */
  public void removePod(String uid) {
    PodEntry before = pods.remove(uid);
    if (before != null) {
      uncharge(before);
    }
    settled(uid);
  }

  /**
   * All pods there are. Commits that the list may be too old to show stay reserved until somebody
   * asks the API for them.
   */
  public void replacePods(List<PodRecord> all) {
    Set<String> uids = new HashSet<>();
    all.forEach(p -> uids.add(p.uid()));
    for (String uid : List.copyOf(pods.keySet())) {
      if (!uids.contains(uid)) {
        PodEntry gone = pods.remove(uid);
        if (gone != null) {
          uncharge(gone);
        }
      }
    }
    all.forEach(this::putPod);
  }

  /** The keys of the seal are others: what could not be read may be readable now. */
  public void readUncountedAgain() {
    for (PodEntry entry : List.copyOf(pods.values())) {
      if (entry.chargedNode() != null
          && entry.charge().cards().isEmpty()
          && entry.record().request().demand().asksForVgpu()) {
        PodEntry again = entryOf(entry.record(), null);
        pods.put(entry.record().uid(), again);
        uncharge(entry);
        charge(again);
      }
    }
  }

  private void charge(PodEntry entry) {
    String name = entry.chargedNode();
    if (name != null) {
      NodeEntry node = nodes.computeIfAbsent(name, n -> new NodeEntry());
      node.bound.put(entry.record().uid(), entry);
      siblings.put(entry.record().uid(), entry.record().request().traits(), name, entry.charge());
      node.hostUsed = node.hostUsed.plus(entry.charge().host());
      entry.charge().cards().forEach((card, use) -> node.used.merge(card, use, Use::plus));
      dirty.add(name);
    }
  }

  private void uncharge(PodEntry entry) {
    String name = entry.chargedNode();
    NodeEntry node = name == null ? null : nodes.get(name);
    if (name != null && node != null) {
      node.bound.remove(entry.record().uid());
      siblings.drop(entry.record().uid());
      node.hostUsed = node.hostUsed.minus(entry.charge().host());
      entry
          .charge()
          .cards()
          .forEach(
              (card, use) ->
                  node.used.computeIfPresent(
                      card,
                      (c, sum) -> {
                        Use left = sum.minus(use);
                        return left.equals(Use.ZERO) ? null : left;
                      }));
      dirty.add(name);
      forget(name, node);
    }
  }

  /** The pod as the watch last showed it. */
  public Optional<PodRecord> pod(String uid) {
    PodEntry entry = pods.get(uid);
    return entry == null ? Optional.empty() : Optional.of(entry.record());
  }

  // ---- commits in flight

  /** Takes the cards of a planned commit. The pod's hold ends. */
  public void reserve(Reservation reservation) {
    List<Reservation> list =
        reservations.computeIfAbsent(reservation.pod().uid(), u -> new ArrayList<>());
    list.removeIf(r -> r.node().equals(reservation.node()));
    list.add(reservation);
    dirty.add(reservation.node());
    dropHold(reservation.pod().uid());
    place(reservation.pod().uid(), reservation.node(), reservation.footprint());
  }

  /**
   * A pod that somebody read, bound, and that the watch may not have shown yet: its cards are taken
   * as those of a commit in flight are, until the watch speaks of it or somebody asks again.
   */
  public void heardOf(PodRecord pod, long untilNanos) {
    PodEntry known = pods.get(pod.uid());
    String node = pod.nodeName();
    boolean shown = known != null && known.record().nodeName() != null;
    if (shown || node == null || pod.terminal()) {
      return;
    }
    if (claims.read(pod.uid(), pod.claim(), pod.seal())
        instanceof ClaimReader.Reading.Sealed sealed) {
      reserve(
          new Reservation(
              pod.request().pod(),
              node,
              sealed.claim(),
              Footprint.of(sealed.claim(), pod.request()),
              false,
              untilNanos));
    }
  }

  /** The commit in flight of a pod on a node. */
  public Optional<Reservation> reservation(String podUid, String node) {
    return reservations.getOrDefault(podUid, List.of()).stream()
        .filter(r -> r.node().equals(node))
        .findFirst();
  }

  /** The commit did not happen and cannot happen any more. */
  public void release(String podUid, String node) {
    List<Reservation> list = reservations.get(podUid);
    if (list != null && list.removeIf(r -> r.node().equals(node))) {
      dirty.add(node);
      if (list.isEmpty()) {
        reservations.remove(podUid);
        unplace(podUid);
      }
    }
  }

  /** Commits whose time is up and of which the watch has said nothing. */
  public List<Reservation> overdue() {
    long now = nanoTime.getAsLong();
    return reservations.values().stream()
        .flatMap(List::stream)
        .filter(r -> r.untilNanos() - now <= 0)
        .toList();
  }

  /** How many commits are in flight. */
  public int inFlight() {
    return reservations.values().stream().mapToInt(List::size).sum();
  }

  private void settled(String uid) {
    List<Reservation> list = reservations.remove(uid);
    if (list != null) {
      list.forEach(r -> dirty.add(r.node()));
      unplace(uid);
    }
    dropHold(uid);
  }

  // ---- soft holds

  /** Holds a pod's likely cards for other pods' plans, until it binds or 2 s have gone. */
  public void hold(String podUid, String node, Footprint footprint) {
    if (!reservations.containsKey(podUid)) {
      dirty.addAll(holds.put(podUid, node, footprint, nanoTime.getAsLong()));
      place(podUid, node, footprint);
    }
  }

  /** Ends the pod's hold. */
  public void dropHold(String podUid) {
    holds
        .drop(podUid)
        .ifPresent(
            node -> {
              dirty.add(node);
              unplace(podUid);
            });
  }

  /** Ends the holds whose time is up. */
  public void expireHolds() {
    holds
        .expire(nanoTime.getAsLong())
        .forEach(
            (uid, node) -> {
              dirty.add(node);
              unplace(uid);
            });
  }

  /** In flight it counts as a sibling already. */
  private void place(String uid, String node, Footprint footprint) {
    PodEntry pod = pods.get(uid);
    if (pod != null && pod.chargedNode() == null) {
      siblings.put(uid, pod.record().request().traits(), node, footprint);
    }
  }

  private void unplace(String uid) {
    PodEntry pod = pods.get(uid);
    if ((pod == null || pod.chargedNode() == null) && !reservations.containsKey(uid)) {
      siblings.drop(uid);
    }
  }

  /** Where the pods of gangs and owners are. */
  public Siblings siblings() {
    return siblings;
  }

  // ---- views

  /** A bound pod and what it takes. */
  public record BoundPod(PodRecord pod, Footprint footprint) {}

  /** The pods bound to a node, in no order that means anything. */
  public List<BoundPod> boundTo(String node) {
    NodeEntry entry = nodes.get(node);
    return entry == null
        ? List.of()
        : entry.bound.values().stream().map(e -> new BoundPod(e.record(), e.charge())).toList();
  }

  /** One node as it stands now, changes since {@link #publish()} included. */
  public Optional<NodeView> node(String name) {
    NodeEntry entry = nodes.get(name);
    return entry == null || entry.offer == null
        ? Optional.empty()
        : Optional.of(view(name, entry, entry.offer));
  }

  /** Makes all changes visible to readers at once. */
  public void publish() {
    if (namesChanged) {
      snapshot = withOtherNames();
    } else if (!dirty.isEmpty()) {
      Map<String, NodeView> changed = new HashMap<>();
      dirty.forEach(name -> node(name).ifPresent(v -> changed.put(name, v)));
      snapshot = snapshot.with(changed);
    }
    namesChanged = false;
    dirty.clear();
  }

  private ClusterSnapshot withOtherNames() {
    List<String> names = new ArrayList<>(nodes.size());
    nodes.forEach(
        (name, entry) -> {
          if (entry.offer != null) {
            names.add(name);
          }
        });
    Collections.sort(names);
    NodeView[] views = new NodeView[names.size()];
    for (int at = 0; at < views.length; at++) {
      String name = names.get(at);
      NodeView old = dirty.contains(name) ? null : snapshot.node(name).orElse(null);
      views[at] = old != null ? old : node(name).orElseThrow();
    }
    return new ClusterSnapshot(new NameIndex(names.toArray(new String[0])), views);
  }

  private static Host hostOf(NodeEntry entry) {
    return entry.record == null ? Host.PLENTY : entry.record.host();
  }

  private NodeView view(String name, NodeEntry entry, NodeOffer offer) {
    List<InFlight> inFlight = new ArrayList<>(holds.on(name));
    reservations
        .values()
        .forEach(
            list ->
                list.stream()
                    .filter(r -> r.node().equals(name))
                    .forEach(
                        r ->
                            inFlight.add(
                                new InFlight(
                                    r.pod().uid(), r.footprint(), false, r.untilNanos()))));
    NodeView view =
        NodeView.of(name, offer, entry.used, inFlight, coreHeadroom, hostOf(entry), entry.hostUsed);
    for (NodeView.Card c : view.cards()) {
      if (c.used().within(c.total())) {
        entry.overcommitted.remove(c.device().uuid());
      } else if (entry.overcommitted.add(c.device().uuid())) {
        listener.overcommitted(name, c.device().uuid(), c.used(), c.total());
      }
    }
    return view;
  }
}
