package io.vgpu.control.scheduler.topology;

import io.vgpu.control.cluster.NodeLinks;
import io.vgpu.control.cluster.NodeLinks.Tier;
import io.vgpu.control.cluster.NodeOffer;
import io.vgpu.control.scheduler.topology.Alignment.Window;
import io.vgpu.control.scheduler.topology.LinkSearch.Plan;
import io.vgpu.control.scheduler.topology.Pick.Picked;
import io.vgpu.control.scheduler.topology.Pick.Unsatisfied;
import io.vgpu.model.Reason;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.IntPredicate;
import java.util.function.Predicate;

/**
 * All cards of a container closely linked, where it can be, near its pod's siblings where that is
 * asked for (control-plane.md 3.12, 3.13). Pure.
 */
final class LinkPicker {
  private final String node;
  private final NodeOffer.Offered offered;
  private final NodeLinks links;
  private final boolean strict;
  private final Alignment alignment;
  private final LinkSearch search;

  private record Part(Window window, List<Item> cards) {}

  LinkPicker(
      String node,
      NodeOffer.Offered offered,
      boolean strict,
      GroupOrder order,
      Alignment alignment,
      SearchLog log) {
    this.node = node;
    this.offered = offered;
    this.links = offered.links();
    this.strict = strict;
    this.alignment = alignment;
    this.search = new LinkSearch(links, order, log);
  }

  /** As {@link NumaPicker#pick}. */
  Pick pick(List<Item> sorted, Set<Integer> fixed, int n) {
    if (!links.published()) {
      return without(sorted, fixed, n, noTopology(links));
    }
    Optional<Integer> anchor = alignment.anchor(node, offered);
    if (strict && anchor.isPresent() && links.islandSize(anchor.get()) < n) {
      return new Unsatisfied(
          Reason.LINK_TOPOLOGY_UNSATISFIED,
          "the siblings' NVLink component has "
              + links.islandSize(anchor.get())
              + " GPUs, "
              + n
              + " are asked for");
    }
    for (Part part : parts(sorted, anchor, n)) {
      Optional<Plan> plan =
          has(part.cards(), fixed) ? search.find(part.cards(), fixed, n) : Optional.empty();
      if (plan.isPresent() && (!strict || close(plan.get()))) {
        return picked(plan.get(), part.window());
      }
    }
    return without(sorted, fixed, n, noSet(links, n));
  }

  /** As {@link Topology#strictRefusal}. */
  static Optional<Unsatisfied> strictRefusal(
      NodeLinks links, int cards, IntPredicate passes, int n) {
    if (links.published() && links.hasSet(Tier.NVLINK, cards, passes, n)) {
      return Optional.empty();
    }
    return Optional.of(
        new Unsatisfied(
            Reason.LINK_TOPOLOGY_UNSATISFIED,
            links.published() ? noSet(links, n) : noTopology(links)));
  }

  private static String noSet(NodeLinks links, int n) {
    return "no NVLink-connected set of "
        + n
        + " GPUs (largest NVLink component "
        + links.largest(Tier.NVLINK)
        + ")";
  }

  private static boolean close(Plan plan) {
    return plan.tier() == Tier.NVLINK && !plan.spanned();
  }

  private static boolean has(List<Item> cards, Set<Integer> fixed) {
    return cards.stream().filter(i -> fixed.contains(i.at())).count() == fixed.size();
  }

  private static String noTopology(NodeLinks links) {
    return "node has no GPU link topology"
        + (links.problem().isEmpty() ? "" : ": " + links.problem());
  }

  /** The parts of the node to try, the most wanted first. */
  private List<Part> parts(List<Item> sorted, Optional<Integer> anchor, int n) {
    List<Part> parts = new ArrayList<>();
    Set<String> rails = alignment.railsFor(node);
    if (!rails.isEmpty() && count(at -> rails.contains(offered.rail(at))) >= n) {
      parts.add(new Part(Window.RAIL, where(sorted, at -> rails.contains(offered.rail(at)))));
    }
    if (anchor.isPresent() && links.islandSize(anchor.get()) >= n) {
      int island = anchor.get();
      parts.add(new Part(Window.COMPONENT, where(sorted, at -> links.island(at) == island)));
    }
    if (!strict || anchor.isEmpty()) {
      parts.add(new Part(Window.NONE, sorted));
    }
    return parts;
  }

  private int count(Predicate<Integer> cards) {
    int count = 0;
    for (int at = 0; at < offered.devices().size(); at++) {
      count += cards.test(at) ? 1 : 0;
    }
    return count;
  }

  private static List<Item> where(List<Item> sorted, Predicate<Integer> cards) {
    return sorted.stream().filter(i -> cards.test(i.at())).toList();
  }

  private Picked picked(Plan plan, Window window) {
    List<Integer> cards = plan.cards().stream().map(Item::at).toList();
    String fallback =
        close(plan)
            ? ""
            : "Link topology downgraded on node \""
                + node
                + "\": "
                + cards.size()
                + " GPUs connected at \""
                + plan.tier().word()
                + "\", not NVLink"
                + (plan.spanned() ? " (spanning multiple components)" : "")
                + "; use link-strict to insist on it";
    Closeness result = plan.spanned() ? Closeness.SPANNED : Closeness.of(plan.tier());
    return new Picked(cards, result, fallback, window);
  }

  private Pick without(List<Item> sorted, Set<Integer> fixed, int n, String why) {
    return strict
        ? new Unsatisfied(Reason.LINK_TOPOLOGY_UNSATISFIED, why)
        : new Picked(
            NumaPicker.firstOf(sorted, fixed, n),
            Closeness.NONE,
            "Link topology unsatisfiable on node \""
                + node
                + "\" ("
                + why
                + "); falling back to non-topology allocation",
            Window.NONE);
  }
}
