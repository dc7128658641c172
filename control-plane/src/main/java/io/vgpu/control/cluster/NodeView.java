package io.vgpu.control.cluster;

import io.vgpu.model.GpuDevice;
import io.vgpu.model.GpuUuid;
import io.vgpu.model.Use;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * One node at one moment, immutable: its offer, what bound pods use of each card, and what is in
 * flight. Any thread.
 *
 * @param hostTotal allocatable CPU and memory
 * @param hostUsed what all bound pods request of them
 * @param sums of the cards and the CPU left, by bound pods alone
 */
public record NodeView(
    String name,
    NodeOffer offer,
    List<Card> cards,
    List<InFlight> inFlight,
    Host hostTotal,
    Host hostUsed,
    CardSums sums) {
  /** One card: what may be promised, and what is. */
  public record Card(GpuDevice device, Use total, Use used) {
    /** What is left, never below zero. */
    public Use free() {
      return total.minus(used).max(Use.ZERO);
    }
  }

  public NodeView {
    cards = List.copyOf(cards);
    inFlight = List.copyOf(inFlight);
  }

  /** With the sums of its cards. */
  public NodeView(
      String name,
      NodeOffer offer,
      List<Card> cards,
      List<InFlight> inFlight,
      Host hostTotal,
      Host hostUsed) {
    this(
        name,
        offer,
        cards,
        inFlight,
        hostTotal,
        hostUsed,
        CardSums.of(cards, factor(offer), hostTotal.minus(hostUsed).cpuMilli()));
  }

  /** A node of which only the cards matter. */
  public NodeView(String name, NodeOffer offer, List<Card> cards, List<InFlight> inFlight) {
    this(name, offer, cards, inFlight, Host.PLENTY, Host.ZERO);
  }

  /**
   * Builds the view of a node whose bound pods use {@code used}.
   *
   * @param coreHeadroom percent of every card's cores that is never promised (D6)
   */
  static NodeView of(
      String name,
      NodeOffer offer,
      Map<GpuUuid, Use> used,
      List<InFlight> inFlight,
      int coreHeadroom,
      Host hostTotal,
      Host hostUsed) {
    List<Card> cards =
        switch (offer) {
          case NodeOffer.NotOffered none -> List.of();
          case NodeOffer.Offered offered ->
              offered.devices().stream()
                  .map(
                      d ->
                          new Card(
                              d, total(d, coreHeadroom), used.getOrDefault(d.uuid(), Use.ZERO)))
                  .toList();
        };
    return new NodeView(name, offer, cards, inFlight, hostTotal, hostUsed);
  }

  /** A node without any pod, e.g. one that only a request describes. */
  public static NodeView empty(NodeRecord node, int coreHeadroom) {
    return of(
        node.name(), NodeOffer.of(node), Map.of(), List.of(), coreHeadroom, node.host(), Host.ZERO);
  }

  private static Use total(GpuDevice d, int coreHeadroom) {
    return new Use(d.number(), (long) d.core() * (100 - coreHeadroom) / 100, d.memory());
  }

  /**
   * The cards as they stand for one pod: others' commits in flight count, and their soft holds
   * where {@code respectHolds}; its own never do.
   */
  public List<Card> cardsFor(String podUid, long nowNanos, boolean respectHolds) {
    List<Card> result = cards;
    for (InFlight f : inFlight) {
      if (f.countsFor(podUid, nowNanos, respectHolds)) {
        result = charged(result, f.footprint());
      }
    }
    return result;
  }

  /** The sums of {@link #standing}, others' soft holds respected. */
  public CardSums sumsFor(String podUid, long nowNanos) {
    if (inFlight.isEmpty()) {
      return sums;
    }
    Standing standing = standing(podUid, nowNanos, true);
    return CardSums.of(standing.cards(), factor(offer), standing.host().cpuMilli());
  }

  private static int factor(NodeOffer offer) {
    return offer instanceof NodeOffer.Offered offered ? offered.config().memoryFactor() : 0;
  }

  /** The node as it stands for one pod, by the rule of {@link #cardsFor}. */
  public Standing standing(String podUid, long nowNanos, boolean respectHolds) {
    Standing standing = new Standing(this, cards, hostTotal.minus(hostUsed));
    for (InFlight f : inFlight) {
      if (f.countsFor(podUid, nowNanos, respectHolds)) {
        standing = standing.with(f.footprint());
      }
    }
    return standing;
  }

  /** The cards with more in use. */
  static List<Card> charged(List<Card> cards, Footprint footprint) {
    List<Card> charged = new ArrayList<>(cards.size());
    for (Card c : cards) {
      Use more = footprint.cards().get(c.device().uuid());
      charged.add(more == null ? c : new Card(c.device(), c.total(), c.used().plus(more)));
    }
    return charged;
  }
}
