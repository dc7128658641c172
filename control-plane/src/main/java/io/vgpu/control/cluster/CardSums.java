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

  /**
   * Of each card: cores left, memory left, memory in all, thousandths left; cores that no container
   * can have are -1. All that most nodes are judged by stands together here: to fetch it from
   * memory costs more than to reckon with it.
   */
  private static final int ROOM = 4;

  /** Of no card at all. */
  public static final CardSums NONE = of(List.of(), 0, 0);

  private final int schedulable;
  private final int cordoned;
  private final int memoryFactor;
  private final long freeSlots;
  private final long freeCores;
  private final long freeMemory;
  private final long mostCores;
  private final long mostMemory;
  private final long uniformMemory;
  private final long cpuLeft;
  private final long[] room;
  private final String model;
  private final Use total;
  private final Use used;
  private final long[] cards;
  private final int[] numa;
  private final int largestNuma;

  private CardSums(
      int schedulable,
      int cordoned,
      Use total,
      Use free,
      Use largest,
      long uniformMemory,
      int memoryFactor,
      long cpuLeft,
      long[] cards,
      long[] room,
      int[] numa,
      String model) {
    this.schedulable = schedulable;
    this.cordoned = cordoned;
    this.total = total;
    this.used = total.minus(free);
    this.freeSlots = free.slots();
    this.freeCores = free.cores();
    this.freeMemory = free.memory();
    this.mostCores = largest.cores();
    this.mostMemory = largest.memory();
    this.uniformMemory = uniformMemory;
    this.memoryFactor = memoryFactor;
    this.cpuLeft = cpuLeft;
    this.cards = cards;
    this.room = room;
    this.numa = numa;
    this.largestNuma = largest(numa);
    this.model = model;
  }

  /**
   * Of cards in their node's order.
   *
   * @param memoryFactor the node's; 0 where it offers nothing
   * @param cpuLeft milli-CPU; negative where the node promises more than it has
   */
  static CardSums of(List<Card> list, int memoryFactor, long cpuLeft) {
    int schedulable = 0;
    int cordoned = 0;
    Use total = Use.ZERO;
    Use free = Use.ZERO;
    Use largest = Use.ZERO;
    long uniform = -1;
    long[] cards = new long[list.size() * FIELDS];
    long[] room = new long[list.size() * ROOM];
    int[] numa = new int[list.size()];
    String model = "";
    for (int i = 0; i < list.size(); i++) {
      Card c = list.get(i);
      write(cards, i * FIELDS, c.total(), c.used());
      writeRoom(room, i * ROOM, c);
      numa[i] = c.device().numa();
      cordoned += c.device().cordoned() ? 1 : 0;
      if (c.device().schedulable()) {
        schedulable++;
        room[i * ROOM + 3] = CardShare.left(c.total(), c.used());
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
        memoryFactor,
        cpuLeft,
        cards,
        room,
        numa,
        model);
  }

  private static int largest(int[] numa) {
    int largest = 0;
    for (int a : numa) {
      int size = 0;
      for (int b : numa) {
        size += a >= 0 && a == b ? 1 : 0;
      }
      largest = Math.max(largest, size);
    }
    return largest;
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
    return (int) room[card * ROOM + 3];
  }

  /** The same of all cards, into the first places of an array. */
  public void copyLeft(int[] to) {
    int cards = size();
    for (int card = 0; card < cards; card++) {
      to[card] = left(card);
    }
  }

  /** Whether two cards, were they empty, would have as much. */
  public boolean alike(int card, int other) {
    int a = card * FIELDS;
    int b = other * FIELDS;
    return cards[a + 1] == cards[b + 1] && cards[a + 2] == cards[b + 2];
  }

  /** What would be left of it with more in use. */
  public int leftWith(int card, long cores, long memory) {
    int at = card * FIELDS;
    return left(card) == 0 || cards[at + 3] + 1 >= cards[at]
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
    return room[card * ROOM + 2];
  }

  /** The first usable card's model; empty where there is none. */
  public String model() {
    return model;
  }

  /** The card's NUMA node; negative where it is not known. */
  public int numa(int card) {
    return numa[card];
  }

  /** The most cards of one NUMA node, whoever uses them; 0 where no card's is known. */
  public int largestNuma() {
    return largestNuma;
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

  /** The slots that they have left, never below zero a card; so all of these. */
  public long freeSlots() {
    return freeSlots;
  }

  /** Percent. */
  public long freeCores() {
    return freeCores;
  }

  /** MiB. */
  public long freeMemory() {
    return freeMemory;
  }

  /** The most cores that one card has, used or not. */
  public long mostCores() {
    return mostCores;
  }

  /** The same of memory. */
  public long mostMemory() {
    return mostMemory;
  }

  /** Whether the node offers cards at all. */
  public boolean offered() {
    return memoryFactor > 0;
  }

  /** MiB in one unit of what pods ask for; 0 where the node offers nothing. */
  public int memoryFactor() {
    return memoryFactor;
  }

  /** Milli-CPU that the node has left; negative where it promises more than it has. */
  public long cpuLeft() {
    return cpuLeft;
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
