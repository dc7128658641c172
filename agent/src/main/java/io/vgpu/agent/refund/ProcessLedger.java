package io.vgpu.agent.refund;

/** One process slot of a container, as a card's ledger knows it. */
final class ProcessLedger {
  final History history = new History();
  boolean known;
  boolean overdue; // its neighbours have waited in vain; they do not again until it posts something
  long generation;
  long head;
  long lastEnd;
  long openSince; // at this look; 0: nothing in flight
  long unsettled; // first interval of the history that is not settled

  /** Whether it may still post something that overlaps what ended at {@code end}. */
  boolean mayOverlap(long end) {
    return openSince != 0 && openSince < end && lastEnd < end && !overdue;
  }

  boolean isActive(long nowNs, long activeNs) {
    return known && ((history.next() != 0 && lastEnd > nowNs - activeNs) || openSince != 0);
  }
}
