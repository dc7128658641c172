package io.vgpu.control.packing;

/**
 * {@link Fragments} of one node after the other and of what becomes of a node when a card has less.
 * Kinds stand by their share: a card is too small for all kinds behind a place in that order, so
 * one walk over the kinds counts a node, and what the walk has summed up to each place answers for
 * any change of one card without another. One thread; used again for the next node.
 */
final class FragmentSums {
  private final Fragments fragments;

  /** By place: cards that are too small from that kind on, and what they have left. */
  private final int[] cardsTo;

  private final int[] leftTo;

  /**
   * Up to each place, of kinds that fit: their weights, and what is too small for them, weighted.
   */
  private final long[] fitting;

  private final long[] tooSmall;

  /** The same of kinds that would still fit with one card less. */
  private final long[] spared;

  private final long[] tooSmallSpared;
  private int idle;

  FragmentSums(Fragments fragments) {
    this.fragments = fragments;
    int places = fragments.size + 1;
    cardsTo = new int[places];
    leftTo = new int[places];
    fitting = new long[places];
    tooSmall = new long[places];
    spared = new long[places];
    tooSmallSpared = new long[places];
  }

  /**
   * Of a node; nothing is kept.
   *
   * @param wanted by {@link Takers}
   * @param cards the first {@code n}: thousandths left
   */
  double of(int[] wanted, int[] cards, int n) {
    int all = spread(cards, n);
    int[] number = cardsTo;
    int[] left = leftTo;
    long[] weight = fragments.weight;
    int fit = n;
    int small = 0;
    long sum = 0;
    int size = wanted.length;
    for (int i = 0; i < size; i++) {
      fit -= number[i];
      small += left[i];
      number[i] = 0;
      left[i] = 0;
      sum += weight[i] * (fit >= wanted[i] ? small : all);
    }
    number[size] = 0;
    left[size] = 0;
    return Fragments.thousandths(sum);
  }

  /** The same, and makes ready for {@link #with}. */
  double prepare(int[] wanted, int[] cards, int n) {
    idle = spread(cards, n);
    int[] number = cardsTo;
    int[] left = leftTo;
    long[] weight = fragments.weight;
    int fit = n;
    int small = 0;
    long fits = 0;
    long smalls = 0;
    long spare = 0;
    long smallsSpare = 0;
    int size = wanted.length;
    for (int i = 0; i < size; i++) {
      fit -= number[i];
      small += left[i];
      number[i] = 0;
      left[i] = 0;
      if (fit >= wanted[i]) {
        long one = weight[i];
        long weighted = one * small;
        fits += one;
        smalls += weighted;
        if (fit > wanted[i]) {
          spare += one;
          smallsSpare += weighted;
        }
      }
      fitting[i + 1] = fits;
      tooSmall[i + 1] = smalls;
      spared[i + 1] = spare;
      tooSmallSpared[i + 1] = smallsSpare;
    }
    number[size] = 0;
    left[size] = 0;
    return Fragments.thousandths(smalls + idle * (fragments.allWeights - fits));
  }

  /**
   * Of the node last made ready, a card of it with {@code after} instead of {@code before} left.
   */
  double with(int before, int after) {
    int size = fragments.size;
    int still = fragments.kindsUpTo[after];
    int once = fragments.kindsUpTo[before];
    int less = before - after;
    // kinds between the two lose the card, which is now too small for them
    long kept = spared[once] - spared[still];
    long keptSmall = tooSmallSpared[once] - tooSmallSpared[still] + kept * after;
    // it was too small for those behind, who lose what is gone of it
    long behind = fitting[size] - fitting[once];
    long behindSmall = tooSmall[size] - tooSmall[once] - behind * less;
    long out = fragments.allWeights - fitting[still] - kept - behind;
    return Fragments.thousandths(tooSmall[still] + keptSmall + behindSmall + out * (idle - less));
  }

  /** Each card to the first kind that it is too small for. Returns what all have left. */
  private int spread(int[] cards, int n) {
    byte[] upTo = fragments.kindsUpTo;
    int all = 0;
    for (int at = 0; at < n; at++) {
      int left = cards[at];
      int place = upTo[left];
      cardsTo[place]++;
      leftTo[place] += left;
      all += left;
    }
    return all;
  }
}
