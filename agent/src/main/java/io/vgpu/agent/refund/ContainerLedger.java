package io.vgpu.agent.refund;

import io.vgpu.agent.shim.Abi;
import java.util.Arrays;

/**
 * One container, as a card's ledger knows it: what it has paid for, may have, and was given back.
 */
final class ContainerLedger {
  // a little more than its limit: what it is entitled to must never look like too much
  private static final int SHARE_OVER_PERMILLE = 1250;
  private static final int SHARE_ADDED_PERMILLE = 20;
  private static final ProcessLedger[] NONE = {};

  ProcessLedger[] processes = NONE; // of the slots seen so far: most containers have one process
  long name; // 0: unused
  boolean present;
  long ableNs; // when its bucket lets it launch again, as of the last look at which it was in debt
  long paidNs; // charged and not posted yet
  long shareNs; // what it may have and has not had
  long refundNs; // cumulative
  int othersActive;
  int active;
  final long[] longestNs = new long[2]; // slice of this second and the one before
  final long[] shortestNs = new long[2]; // of those for which something was refunded; 0: none
  long bucketNs; // at this look, and what this look refunded
  long sharePermille = 1;
  private long rawBusyNs;

  void begin(long newName, long newRawBusyNs) {
    processes = NONE;
    name = newName;
    present = false;
    rawBusyNs = newRawBusyNs;
    ableNs = 0;
    paidNs = RefundLedger.PAID_SLACK_NS;
    shareNs = RefundLedger.SHARE_CAP_NS / 2;
    refundNs = 0;
    othersActive = 0;
    active = 0;
    longestNs[0] = 0;
    longestNs[1] = 0;
    shortestNs[0] = 0;
    shortestNs[1] = 0;
  }

  /** The process in a slot, from now on one of {@link #processes}. */
  ProcessLedger process(int slot) {
    int known = processes.length;
    if (slot >= known) {
      processes = Arrays.copyOf(processes, slot + 1);
      for (int k = known; k <= slot; k++) {
        processes[k] = new ProcessLedger();
      }
    }
    return processes[slot];
  }

  void end() {
    name = 0;
    processes = NONE;
  }

  /** Brings what was paid and what it may have to this look. */
  void refill(Look look, long passedNs) {
    long grown = look.rawBusyNs() - rawBusyNs;
    rawBusyNs = look.rawBusyNs();
    // gone back or leapt: somebody writes what he likes there, and is believed nothing of it
    if (Long.compareUnsigned(grown, RefundLedger.LENGTH_MAX_NS * Abi.RING_SLOTS) <= 0) {
      paidNs += grown;
    }
    paidNs = Math.min(paidNs, RefundLedger.LENGTH_MAX_NS + RefundLedger.SECOND_NS);
    long permille =
        Math.min(look.sharePermille(), Abi.PERMILLE_FULL)
                * (long) SHARE_OVER_PERMILLE
                / Abi.PERMILLE_FULL
            + SHARE_ADDED_PERMILLE;
    shareNs =
        Math.min(shareNs + passedNs * permille / Abi.PERMILLE_FULL, RefundLedger.SHARE_CAP_NS);
    bucketNs = Math.clamp(look.bucketNs(), -RefundLedger.DEBT_MAX_NS, RefundLedger.DEBT_MAX_NS);
    sharePermille = Math.clamp(look.sharePermille(), 1, Abi.PERMILLE_FULL);
  }

  /**
   * A container in debt uses the card as far as it may: one whose long kernels are far apart is not
   * idle between them.
   */
  void owe(Look look, long nowNs) {
    long owed = -Math.max(look.bucketNs(), -RefundLedger.DEBT_MAX_NS);
    long share = Math.max(Math.min(look.sharePermille(), Abi.PERMILLE_FULL), 1);
    if (owed > 0) {
      ableNs = nowNs + Math.min(owed * Abi.PERMILLE_FULL / share, RefundLedger.DEBT_MAX_NS);
    }
  }

  /** Keeps what it had of a slice and was refunded of it. */
  void hadOfSlice(long ownNs, long refundNs) {
    longestNs[0] = Math.max(longestNs[0], ownNs);
    if (refundNs > 0 && (shortestNs[0] == 0 || ownNs < shortestNs[0])) {
      shortestNs[0] = ownNs;
    }
  }

  void nextSecond() {
    longestNs[1] = longestNs[0];
    longestNs[0] = 0;
    shortestNs[1] = shortestNs[0];
    shortestNs[0] = 0;
  }

  /** Of about the last second's slices for which something was refunded; 0: none. */
  long shortestSliceNs() {
    if (shortestNs[0] == 0 || shortestNs[1] == 0) {
      return Math.max(shortestNs[0], shortestNs[1]);
    }
    return Math.min(shortestNs[0], shortestNs[1]);
  }

  /** Whether a process of it has something in flight. */
  boolean works() {
    for (ProcessLedger p : processes) {
      if (p.known && p.openSince != 0) {
        return true;
      }
    }
    return false;
  }

  /** Slices of about the last second, without the neighbours' turns in them. */
  long longestSliceNs() {
    return Math.max(longestNs[0], longestNs[1]);
  }
}
