package io.vgpu.control.packing;

import io.vgpu.control.cluster.CardShare;
import io.vgpu.control.cluster.Footprint;
import io.vgpu.control.cluster.Host;
import io.vgpu.control.cluster.NodeView;
import io.vgpu.model.Use;
import java.util.Arrays;
import java.util.List;

/**
 * What a node has left, in the units of packing: milli-CPU, MiB of memory, thousandths of each
 * card. Immutable; any thread.
 */
public final class Room {
  /** One whole card. */
  public static final int CARD = CardShare.WHOLE;

  private static final int MOST = Integer.MAX_VALUE / 4;

  private final int cpu;
  private final int memory;
  private final int[] cards;
  private final String model;

  private Room(int cpu, int memory, int[] cards, String model) {
    this.cpu = cpu;
    this.memory = memory;
    this.cards = cards;
    this.model = model;
  }

  /** Of plain numbers; {@code cards}: what is left of each. */
  public static Room of(int cpu, int memory, String model, int... cards) {
    return new Room(cpu, memory, cards.clone(), model);
  }

  /**
   * Of a node as it stands for one pod. A card that cannot be used has nothing left; a node of
   * several models counts as its first usable card's.
   */
  public static Room of(Host left, List<NodeView.Card> cards) {
    int[] free = new int[cards.size()];
    String model = "";
    for (int i = 0; i < free.length; i++) {
      NodeView.Card card = cards.get(i);
      if (card.device().schedulable()) {
        free[i] = left(card.total(), card.used());
        model = model.isEmpty() ? card.device().type() : model;
      }
    }
    return new Room(bounded(left.cpuMilli()), bounded(left.memoryMiB()), free, model);
  }

  /** The same with more in use. */
  public static Room of(Host left, List<NodeView.Card> cards, Footprint more) {
    Room room = of(left.minus(more.host()), cards);
    for (int i = 0; i < room.cards.length; i++) {
      NodeView.Card card = cards.get(i);
      Use use = room.cards[i] == 0 ? null : more.cards().get(card.device().uuid());
      if (use != null) {
        room.cards[i] = left(card.total(), card.used().plus(use));
      }
    }
    return room;
  }

  /** The share of a card that is left. */
  static int left(Use total, Use used) {
    return CardShare.left(total, used);
  }

  /** The share of an empty card that a use of it takes. */
  public static int share(Use total, Use use) {
    return CardShare.taken(total, use);
  }

  /** CPU or memory as rooms count it: what is promised away counts as nothing. */
  public static int bounded(long value) {
    return (int) Math.max(0, Math.min(MOST, value));
  }

  /** With one card less by {@code share}. */
  public Room without(int card, int share) {
    int[] less = cards.clone();
    less[card] = Math.max(0, less[card] - share);
    return new Room(cpu, memory, less, model);
  }

  /** Milli-CPU left. */
  public int cpu() {
    return cpu;
  }

  /** MiB of memory left. */
  public int memory() {
    return memory;
  }

  /** The cards' model. */
  public String model() {
    return model;
  }

  /** How many cards there are, usable or not. */
  public int cards() {
    return cards.length;
  }

  /** What is left of one card. */
  public int card(int at) {
    return cards[at];
  }

  /** What is left of all cards. */
  public int free() {
    int sum = 0;
    for (int c : cards) {
      sum += c;
    }
    return sum;
  }

  /** What is left of each card, by place; not to be changed. */
  int[] byPlace() {
    return cards;
  }

  /** What is left of each card, least first; the caller's own. */
  public int[] sorted() {
    int[] copy = cards.clone();
    Arrays.sort(copy);
    return copy;
  }
}
