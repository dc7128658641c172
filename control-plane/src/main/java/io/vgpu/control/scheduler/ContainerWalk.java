package io.vgpu.control.scheduler;

import io.vgpu.control.cluster.NodeView;
import io.vgpu.control.cluster.PodRequest;
import io.vgpu.control.cluster.Standing;
import io.vgpu.control.packing.Room;
import io.vgpu.control.scheduler.Needs.Need;
import io.vgpu.control.scheduler.Verdict.Refused;
import io.vgpu.control.scheduler.policy.AllocationPolicy;
import io.vgpu.control.scheduler.policy.CardChoice;
import io.vgpu.control.scheduler.policy.CardRank;
import io.vgpu.control.scheduler.policy.Look;
import io.vgpu.control.scheduler.topology.Alignment;
import io.vgpu.control.scheduler.topology.Closeness;
import io.vgpu.control.scheduler.topology.Item;
import io.vgpu.control.scheduler.topology.Pick;
import io.vgpu.control.scheduler.topology.Topology;
import io.vgpu.model.ContainerClaim;
import io.vgpu.model.ContainerKind;
import io.vgpu.model.CorePercent;
import io.vgpu.model.DeviceClaim;
import io.vgpu.model.GpuDevice;
import io.vgpu.model.MemoryMiB;
import io.vgpu.model.Phases;
import io.vgpu.model.Reason;
import io.vgpu.model.Use;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.EnumMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Gives each container of one pod its cards on one node, in the order in which the kubelet asks
 * (control-plane.md 3.9, 3.10). One use, one thread.
 *
 * <p>The kubelet hands the ids of finished init containers to the next container (D3), so an init
 * container and what follows it form a chain whose card sets are nested: the smallest set is chosen
 * first, among cards that are good enough for everyone in the chain.
 */
final class ContainerWalk {
  private static final Pick.Picked NO_WISH =
      new Pick.Picked(List.of(), Closeness.NONE, "", Alignment.Window.NONE);

  private static final Survivors NOBODY_ASKED = new Survivors(List.of(), List.of());

  private final PodRequest pod;
  private final Standing node;
  private final List<NodeView.Card> cards;
  private final AllocationPolicy policy;
  private final Look look;
  private final Topology topology;
  private final Phases[] phases;
  private final List<ContainerClaim> claims = new ArrayList<>();
  private final List<Choice> choices = new ArrayList<>();

  ContainerWalk(
      PodRequest pod, Standing node, AllocationPolicy policy, Look look, Topology topology) {
    this.pod = pod;
    this.node = node;
    this.cards = node.cards();
    this.policy = policy;
    this.look = look;
    this.topology = topology;
    this.phases = new Phases[cards.size()];
    Arrays.fill(phases, Phases.NONE);
  }

  /** Places every container; empty when all have their cards. */
  Optional<Refused> place(Needs needs) {
    List<Need> chain = new ArrayList<>();
    for (Need need : needs.containers()) {
      chain.add(need);
      if (need.container().kind() != ContainerKind.INIT) {
        Optional<Refused> refused = placeChain(chain);
        if (refused.isPresent()) {
          return refused;
        }
        chain.clear();
      }
    }
    return placeChain(chain);
  }

  /** What was chosen, init containers first, in spec order. */
  List<ContainerClaim> claims() {
    return claims;
  }

  /** Why each container has its cards. */
  List<Choice> choices() {
    return choices;
  }

  private Optional<Refused> placeChain(List<Need> chain) {
    List<Integer> chosen = new ArrayList<>();
    List<List<Integer>> ofNeed = new ArrayList<>();
    List<Integer> together = together(chain);
    for (int k = 0; k < chain.size(); k++) {
      Need need = chain.get(k);
      int missing = need.number() - chosen.size();
      if (missing > 0) {
        Survivors survivors = test(chain.subList(k, chain.size()), chosen, missing);
        if (survivors.cards.size() < missing) {
          return Optional.of(tooFew(need, survivors, chosen.size()));
        }
        switch (pick(need, survivors, chosen, together)) {
          case Pick.Unsatisfied no -> {
            return Optional.of(Refused.of(no.reason(), no.detail()));
          }
          case Pick.Picked picked -> {
            choices.add(choice(need, chosen.size(), survivors, picked));
            picked.cards().stream().filter(at -> !chosen.contains(at)).forEach(chosen::add);
          }
        }
      } else {
        choices.add(choice(need, chosen.size(), NOBODY_ASKED, NO_WISH));
      }
      ofNeed.add(List.copyOf(chosen));
    }
    for (int k = 0; k < chain.size(); k++) {
      take(chain.get(k), ofNeed.get(k));
    }
    return Optional.empty();
  }

  private Refused tooFew(Need need, Survivors survivors, int reused) {
    return Refused.byCards(
        counted(survivors.failed),
        cards.size(),
        "container "
            + need.container().name()
            + " needs "
            + need.number()
            + " devices, "
            + (survivors.cards.size() + reused)
            + " pass");
  }

  /**
   * The cards of the last container of a growing chain, where one set suits all of it: chosen from
   * the first one on, they would be close for few and in the way of the many.
   */
  private List<Integer> together(List<Need> chain) {
    if (!topology.wishes() || chain.size() < 2) {
      return List.of();
    }
    int most = chain.getLast().number();
    Survivors all = test(chain, List.of(), most);
    return most > chain.getFirst().number()
            && all.cards.size() >= most
            && topology.pick(items(all.cards, List.of()), Set.of(), most)
                instanceof Pick.Picked picked
        ? picked.cards()
        : List.of();
  }

  private Pick pick(Need need, Survivors survivors, List<Integer> chosen, List<Integer> together) {
    List<CardRank> from = survivors.cards;
    if (!together.isEmpty()) {
      from = from.stream().filter(c -> together.contains(c.at())).toList();
    }
    return topology.pick(items(from, chosen), new LinkedHashSet<>(chosen), need.number());
  }

  /** Cards that the container has anyway come first, the others in policy order. */
  private List<Item> items(List<CardRank> sorted, List<Integer> chosen) {
    List<Item> items = new ArrayList<>();
    for (int at : chosen) {
      NodeView.Card c = cards.get(at);
      double free = CardRank.meanFree(c.total(), c.used().plus(phases[at].total()));
      items.add(new Item(at, c.device().id(), c.device().numa(), free));
    }
    sorted.forEach(c -> items.add(new Item(c.at(), c.id(), c.numa(), c.freeScore())));
    return items;
  }

  private Choice choice(Need need, int reused, Survivors survivors, Pick.Picked picked) {
    List<CardRank> taken =
        survivors.cards.stream().filter(c -> picked.cards().contains(c.at())).toList();
    return new Choice(
        need.container().name(),
        reused,
        taken,
        survivors.cards,
        survivors.failed,
        policy.word(),
        picked);
  }

  /**
   * @param cards that pass, in policy order
   * @param failed by position, null where nothing failed
   */
  private record Survivors(List<CardRank> cards, List<@Nullable Reason> failed) {}

  private static Map<Reason, Integer> counted(List<@Nullable Reason> failed) {
    Map<Reason, Integer> counted = new EnumMap<>(Reason.class);
    for (Reason r : failed) {
      if (r != null) {
        counted.merge(r, 1, Integer::sum);
      }
    }
    return counted;
  }

  /**
   * Tests every card not yet chosen for all containers that would use it, and sorts what is left.
   */
  private Survivors test(List<Need> chain, List<Integer> chosen, int missing) {
    @Nullable Reason[] failed = new Reason[cards.size()];
    List<CardRank> survivors = new ArrayList<>();
    for (int at = 0; at < cards.size(); at++) {
      if (chosen.contains(at)) {
        continue;
      }
      NodeView.Card card = cards.get(at);
      Optional<Reason> failure = failure(card, phases[at], chain);
      if (failure.isPresent()) {
        failed[at] = failure.get();
      } else {
        Use used = card.used().plus(phases[at].total());
        survivors.add(
            new CardRank(
                at,
                card.device().id(),
                card.device().numa(),
                CardRank.meanFree(card.total(), used),
                Room.share(card.total(), chain.getFirst().on(card.device().memory()))));
      }
    }
    return new Survivors(
        policy.order(new CardChoice(survivors, missing, this::room, look)),
        Collections.unmodifiableList(Arrays.asList(failed)));
  }

  /** What the pod's containers so far have left. */
  private Room room() {
    List<NodeView.Card> now = new ArrayList<>(cards.size());
    for (int at = 0; at < cards.size(); at++) {
      NodeView.Card c = cards.get(at);
      now.add(new NodeView.Card(c.device(), c.total(), c.used().plus(phases[at].total())));
    }
    return Room.of(node.host().minus(pod.host()), now);
  }

  /** The first test that fails, in the order of control-plane.md 3.10. */
  private Optional<Reason> failure(NodeView.Card card, Phases before, List<Need> chain) {
    GpuDevice device = card.device();
    if (!device.healthy()) {
      return Optional.of(Reason.DEVICE_UNHEALTHY);
    }
    if (device.mig()) {
      return Optional.of(Reason.DEVICE_MIG_ENABLED);
    }
    if (device.cordoned()) {
      return Optional.of(Reason.DEVICE_CORDONED);
    }
    Phases after = before;
    boolean noCoresLeft = false;
    for (Need need : chain) {
      ContainerKind kind = need.container().kind();
      // a container without a core limit still needs a card that is not promised away
      noCoresLeft |= card.used().plus(after.before(kind)).cores() >= card.total().cores();
      after = after.with(kind, need.on(device.memory()));
    }
    Use use = card.used().plus(after.total());
    if (use.slots() > card.total().slots()) {
      return Optional.of(Reason.INSUFFICIENT_VGPU_SLOT);
    }
    if (use.memory() > card.total().memory()) {
      return Optional.of(Reason.INSUFFICIENT_VGPU_MEMORY);
    }
    if (noCoresLeft || use.cores() > card.total().cores()) {
      return Optional.of(Reason.INSUFFICIENT_VGPU_CORE);
    }
    if (!pod.wishes().types().accepts(device.type())) {
      return Optional.of(Reason.DEVICE_TYPE_MISMATCH);
    }
    if (!pod.wishes().uuids().accepts(device.uuid().value())) {
      return Optional.of(Reason.DEVICE_UUID_MISMATCH);
    }
    return Optional.empty();
  }

  private void take(Need need, List<Integer> chosen) {
    List<DeviceClaim> devices = new ArrayList<>();
    for (int at : chosen.stream().sorted().toList()) {
      GpuDevice device = cards.get(at).device();
      Use use = need.on(device.memory());
      phases[at] = phases[at].with(need.container().kind(), use);
      devices.add(
          new DeviceClaim(
              device.id(),
              device.uuid(),
              new CorePercent((int) use.cores()),
              new MemoryMiB(use.memory())));
    }
    claims.add(new ContainerClaim(need.container().name(), devices));
  }
}
