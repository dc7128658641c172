package io.vgpu.control.cluster;

import io.vgpu.control.cluster.NodeView.Card;
import io.vgpu.model.Use;
import java.util.List;

/**
 * A node's cards as plain numbers, so that a look at thousands of nodes makes no garbage: sums over
 * schedulable cards (control-plane.md 3.5), and each card's own. Immutable; any thread.
 */
public final class CardSums {
  private static final int FIELDS = 6;

  /** Of each card: cores left, memory left, memory in all; what no container can have is -1. */
  private static final int ROOM = 3;

  private final int schedulable;
  private final int cordoned;
  private final Use total;
  private final Use used;
  private final Use free;
  private final Use largest;
  private final long uniformMemory;
  private final long[] cards;
  private final long[] room;
  private final int[] left;
  private final String model;

  private CardSums(
      int schedulable,
      int cordoned,
      Use total,
      Use free,
      Use largest,
      long uniformMemory,
      long[] cards,
      long[] room,
      int[] left,
      String model) {
    this.schedulable = schedulable;
    this.cordoned = cordoned;
    this.total = total;
    this.used = total.minus(free);
    this.free = free;
    this.largest = largest;
    this.uniformMemory = uniformMemory;
    this.cards = cards;
    this.room = room;
    this.left = left;
    this.model = model;
  }

  /** Of cards in their node's order. */
  public static CardSums of(List<Card> list) {
    int schedulable = 0;
    int cordoned = 0;
    Use total = Use.ZERO;
    Use free = Use.ZERO;
    Use largest = Use.ZERO;
    long uniform = -1;
    long[] cards = new long[list.size() * FIELDS];
    long[] room = new long[list.size() * ROOM];
    int[] left = new int[list.size()];
    String model = "";
    for (int i = 0; i < list.size(); i++) {
      Card c = list.get(i);
      write(cards, i * FIELDS, c.total(), c.used());
      writeRoom(room, i * ROOM, c);
      cordoned += c.device().cordoned() ? 1 : 0;
      if (c.device().schedulable()) {
        schedulable++;
        left[i] = CardShare.left(c.total(), c.used());
        model = model.isEmpty() ? c.device().type() : model;
        total = total.plus(c.total());
        free = free.plus(c.free());
        largest = largest.max(c.total());
        uniform = uniform < 0 || uniform == c.total().memory() ? c.total().memory() : 0;
      }
    }
    return new CardSums(
        schedulable,
        cordoned,
        total,
        free,
        largest,
        Math.max(0, uniform),
        cards,
        room,
        left,
        model);
  }

  private static void writeRoom(long[] room, int at, Card c) {
    Use left = c.total().minus(c.used());
    // a container without a core limit still needs a card that is not promised away
    boolean some = c.device().schedulable() && left.slots() > 0 && left.cores() > 0;
    room[at] = some ? left.cores() : -1;
    room[at + 1] = left.memory();
    room[at + 2] = c.total().memory();
  }

  /** Whether a container can have the card, as far as cores and memory (0: all of it) go. */
  public boolean takes(int card, long cores, long memory) {
    int at = card * ROOM;
    return cores <= room[at] && (memory == 0 ? room[at + 2] : memory) <= room[at + 1];
  }

  /** The share that is left of a card, in thousandths; nothing of one that cannot be used. */
  public int left(int card) {
    return left[card];
  }

  /** What would be left of it with more in use. */
  public int leftWith(int card, long cores, long memory) {
    int at = card * FIELDS;
    return left[card] == 0 || cards[at + 3] + 1 >= cards[at]
        ? 0
        : CardShare.left(
            cards[at + 1], cards[at + 2], cards[at + 4] + cores, cards[at + 5] + memory);
  }

  /** The share of the card, were it empty, that so much takes. */
  public int share(int card, long cores, long memory) {
    int at = card * FIELDS;
    return CardShare.WHOLE - CardShare.left(cards[at + 1], cards[at + 2], cores, memory);
  }

  /** The memory that a card has in all. */
  public long memory(int card) {
    return cards[card * FIELDS + 2];
  }

  /** The first usable card's model; empty where there is none. */
  public String model() {
    return model;
  }

  /** How many cards the node has, usable or not. */
  public int size() {
    return room.length / ROOM;
  }

  private static void write(long[] cards, int at, Use total, Use used) {
    cards[at] = total.slots();
    cards[at + 1] = total.cores();
    cards[at + 2] = total.memory();
    cards[at + 3] = used.slots();
    cards[at + 4] = used.cores();
    cards[at + 5] = used.memory();
  }

  /** How many cards can be used at all. */
  public int schedulable() {
    return schedulable;
  }

  /** How many more could, were they not cordoned. */
  public int cordoned() {
    return cordoned;
  }

  /** Of all schedulable cards together. */
  public Use total() {
    return total;
  }

  /** What of the total is not free. */
  public Use used() {
    return used;
  }

  /** What they have left, never below zero a card. */
  public Use free() {
    return free;
  }

  /** The largest of each dimension that one card has. */
  public Use largest() {
    return largest;
  }

  /** The memory that all schedulable cards have, 0 where they differ. */
  public long uniformMemory() {
    return uniformMemory;
  }

  /** Whether a slot of the card is left. */
  public boolean slotLeft(int card) {
    return cards[card * FIELDS + 3] < cards[card * FIELDS];
  }

  /** Whether the card has so much memory left; 0 means all that it has. */
  public boolean memoryLeft(int card, long memory) {
    int at = card * FIELDS;
    return cards[at + 5] + (memory == 0 ? cards[at + 2] : memory) <= cards[at + 2];
  }

  /** Whether the card has so many cores left, and any at all. */
  public boolean coresLeft(int card, long cores) {
    int at = card * FIELDS;
    return cards[at + 4] < cards[at + 1] && cards[at + 4] + cores <= cards[at + 1];
  }
}
