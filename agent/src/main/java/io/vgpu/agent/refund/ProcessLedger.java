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
  long earnedNs; // what it had of the card, less a price for each interruption counted

  /** A process is interrupted once for each time slice that it has had. */
  void earn(GpuModel model, long own, int turns) {
    earnedNs = Math.min(earnedNs + own - model.turnPriceNs() * turns, 2 * model.turnNs());
  }

  /** Whether the process had not had the card just before the interval that is to be settled. */
  boolean comesFresh(GpuModel model) {
    return unsettled == history.first()
        || history.start(unsettled) - history.end(unsettled - 1) > model.leastNs();
  }

  /** Whether it may still post something that overlaps what ended at {@code end}. */
  boolean mayOverlap(long end) {
    return openSince != 0 && openSince < end && lastEnd < end && !overdue;
  }

  /** Whether it used the card, or was held back by its container's debt, after {@code sinceNs}. */
  boolean isActive(long sinceNs, long ableNs) {
    if (!known || openSince != 0) {
      return known;
    }
    long until = Math.max(lastEnd, Math.min(ableNs, lastEnd + RefundLedger.DEBT_MAX_NS));
    return history.next() != 0 && until > sinceNs;
  }
}
