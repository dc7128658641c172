package io.vgpu.agent.refund;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.vgpu.agent.metrics.AgentMeters;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;

/** What ledgers did, as counters; a ledger's own counts are cumulative. Lane {@code regions}. */
final class RefundMeters {
  private static final double NANOS_PER_SECOND = 1e9;
  private static final RefundDrop[] DROPS = RefundDrop.values();

  private final MeterRegistry registry;
  private final Map<RefundLedger, Counts> counted = new HashMap<>();

  RefundMeters(MeterRegistry registry) {
    this.registry = registry;
  }

  private static final class Counts {
    final String card;
    final Map<String, Counter> counters = new HashMap<>();
    final long[] dropped = new long[DROPS.length];
    long settled;
    long refundedNs;
    long clippedNs;

    Counts(String card) {
      this.card = card;
    }
  }

  void count(int cardIndex, RefundLedger ledger) {
    Counts before = counted.get(ledger);
    if (before == null) {
      before = new Counts(Integer.toString(cardIndex));
      counted.put(ledger, before);
    }
    add(before, AgentMeters.REFUNDS, ledger.refundedNs() - before.refundedNs);
    add(before, AgentMeters.REFUNDS_WITHHELD, ledger.clippedNs() - before.clippedNs);
    before.refundedNs = ledger.refundedNs();
    before.clippedNs = ledger.clippedNs();
    add(before, "settled", ledger.settled() - before.settled);
    before.settled = ledger.settled();
    for (int i = 0; i < DROPS.length; i++) {
      long now = ledger.dropped(DROPS[i]);
      if (now != before.dropped[i]) {
        add(before, DROPS[i].name().toLowerCase(Locale.ROOT), now - before.dropped[i]);
        before.dropped[i] = now;
      }
    }
  }

  private void add(Counts of, AgentMeters meter, long nanos) {
    if (nanos != 0) {
      of.counters
          .computeIfAbsent(meter.name(), n -> meter.counter(registry, of.card))
          .increment(nanos / NANOS_PER_SECOND);
    }
  }

  private void add(Counts of, String result, long intervals) {
    if (intervals != 0) {
      of.counters
          .computeIfAbsent(result, r -> AgentMeters.REFUND_INTERVALS.counter(registry, of.card, r))
          .increment(intervals);
    }
  }
}
