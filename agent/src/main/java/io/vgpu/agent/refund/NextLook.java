package io.vgpu.agent.refund;

import io.vgpu.agent.shim.Abi;

/**
 * When a card with two or more active processes should be looked at again: the Java side of {@code
 * next_look.c}. A refund is worth something once its container could launch with it, so a look need
 * be no sooner than that; turns are given and taken back by looks, and a ring must not run over.
 * Everything else can wait. Pure.
 */
final class NextLook {
  static final long SOON_NS = 5_000_000;
  static final long CALM_NS = 20_000_000;

  /** Of one process; those behind them wait for the same neighbours. */
  private static final int AWAITED = 16;

  private NextLook() {}

  /** From the look just made, which both have seen, to the next: between the two bounds. */
  static long after(RefundLedger ledger, TurnPlanner turns) {
    if (turns.press()) {
      return SOON_NS;
    }
    long pause = CALM_NS;
    if (ledger.posted() != 0) { // at the pace of this look, half a ring
      pause = Math.min(pause, ledger.passedNs() * (Abi.RING_ENTRIES / 2) / ledger.posted());
    }
    for (ContainerLedger c : ledger.containers()) {
      if (c.name != 0) {
        pause = savesAtWork(c) ? 0 : Math.min(pause, ofContainer(c));
      }
    }
    return Math.max(pause, SOON_NS);
  }

  /**
   * Has something saved up and uses the card: it does not get through, and those beside it should
   * not crowd together.
   */
  private static boolean savesAtWork(ContainerLedger c) {
    return c.bucketNs >= TurnPlanner.SAVED_NS && c.works();
  }

  /** Until the container could launch by a refund that it has not had yet. */
  private static long ofContainer(ContainerLedger c) {
    long shortest = c.shortestSliceNs();
    if (shortest == 0) {
      return CALM_NS; // nobody's turns were in its slices lately
    }
    long sum = 0;
    for (ProcessLedger p : c.processes) {
      sum += awaited(p, shortest);
    }
    // one that ends right after this look
    long pause = shortest * Abi.PERMILLE_FULL / c.sharePermille;
    if (sum == 0) {
      return pause;
    }
    long owed = -(c.bucketNs + sum);
    return owed <= 0 ? 0 : Math.min(pause, owed * Abi.PERMILLE_FULL / c.sharePermille);
  }

  /**
   * GPU time that may be refunded of what a process has posted, if it had no more of each slice
   * than {@code shortest}.
   */
  private static long awaited(ProcessLedger p, long shortest) {
    long sum = 0;
    long end = Math.min(p.history.next(), p.unsettled + AWAITED);
    for (long n = p.unsettled; n < end; n++) {
      sum += Math.max(p.history.end(n) - p.history.start(n) - shortest, 0);
    }
    return sum;
  }
}
