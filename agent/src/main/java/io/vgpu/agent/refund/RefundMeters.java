package io.vgpu.agent.refund;

import io.micrometer.core.instrument.MeterRegistry;
import io.vgpu.agent.metrics.AgentMeters;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;

/** What ledgers did, as counters; a ledger's own counts are cumulative. Lane {@code regions}. */
final class RefundMeters {
  private static final double NANOS_PER_SECOND = 1e9;

  private final MeterRegistry registry;
  private final Map<RefundLedger, Counts> counted = new HashMap<>();

  RefundMeters(MeterRegistry registry) {
    this.registry = registry;
  }

  private static final class Counts {
    final long[] dropped = new long[RefundDrop.values().length];
    long settled;
    long refundedNs;
    long clippedNs;
  }

  void count(int cardIndex, RefundLedger ledger) {
    Counts before = counted.computeIfAbsent(ledger, l -> new Counts());
    String card = Integer.toString(cardIndex);
    add(AgentMeters.REFUNDS, ledger.refundedNs() - before.refundedNs, card);
    add(AgentMeters.REFUNDS_WITHHELD, ledger.clippedNs() - before.clippedNs, card);
    before.refundedNs = ledger.refundedNs();
    before.clippedNs = ledger.clippedNs();
    if (ledger.settled() != before.settled) {
      AgentMeters.REFUND_INTERVALS
          .counter(registry, card, "settled")
          .increment(ledger.settled() - before.settled);
      before.settled = ledger.settled();
    }
    for (RefundDrop why : RefundDrop.values()) {
      long now = ledger.dropped(why);
      if (now != before.dropped[why.ordinal()]) {
        AgentMeters.REFUND_INTERVALS
            .counter(registry, card, why.name().toLowerCase(Locale.ROOT))
            .increment(now - before.dropped[why.ordinal()]);
        before.dropped[why.ordinal()] = now;
      }
    }
  }

  private void add(AgentMeters meter, long nanos, String card) {
    if (nanos != 0) {
      meter.counter(registry, card).increment(nanos / NANOS_PER_SECOND);
    }
  }
}
