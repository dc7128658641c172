package io.vgpu.agent.refund;

import static org.assertj.core.api.Assertions.assertThat;

import io.vgpu.agent.shim.Abi;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.Objects;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.LongRange;
import net.jqwik.api.constraints.Size;

/**
 * Whatever bytes tenants write, refunds stay within what was posted and paid, and honest ones get
 * theirs.
 */
class RefundBoundsTest {
  private static final long START = 100_000_000_000L;
  private static final long LOOK_NS = 11_000_000;

  private static ByteBuffer bytes(int size) {
    return ByteBuffer.allocate(size).order(ByteOrder.LITTLE_ENDIAN);
  }

  /** The slots and ring of a container with one process, and what it was charged. */
  private static final class Tenant {
    final long name;
    final ByteBuffer slots = bytes(Abi.SLOT_BYTES);
    final ByteBuffer rings = bytes(Abi.RING_BYTES);
    long rawBusyNs;

    Tenant(long name) {
      this.name = name;
      slots.putInt(Abi.UsageSlot.STATE, Abi.SLOT_LIVE);
    }

    void post(long startNs, int lengthUs) {
      long head = rings.getLong(Abi.Ring.HEAD);
      int at = Abi.Ring.ENTRIES + (int) (head % Abi.RING_ENTRIES) * Abi.Interval.SIZEOF;
      rings.putLong(at + Abi.Interval.START_NS, startNs);
      rings.putInt(at + Abi.Interval.LENGTH_US, lengthUs);
      rings.putLong(Abi.Ring.HEAD, head + 1);
      rawBusyNs += lengthUs * 1000L;
    }

    Look look() {
      return new Look(name, 0, 1, 1000, 1, 0, rawBusyNs, 0, slots, rings);
    }
  }

  private static long refund(RefundLedger ledger, Tenant tenant) {
    return Objects.requireNonNull(ledger.account(tenant.name)).refundNs();
  }

  @Property
  void garbageEarnsNothingUnpaidAndTakesNothingFromOthers(
      @ForAll @Size(min = Abi.RING_BYTES, max = Abi.RING_BYTES) byte[] ring,
      @ForAll @Size(min = Abi.SLOT_BYTES, max = Abi.SLOT_BYTES) byte[] slot,
      @ForAll @IntRange(min = 0, max = 123) int posted) {
    RefundLedger ledger = new RefundLedger(GpuModel.of("NVIDIA H200"));
    Tenant hostile = new Tenant(1);
    Tenant brief = new Tenant(2);
    Tenant honest = new Tenant(3);
    List<Tenant> all = List.of(hostile, brief, honest);
    ledger.look(all.stream().map(Tenant::look).toList(), START - 1_000_000_000);
    long given = 0;
    for (int i = 0; i < 5; i++) {
      long at = START + i * LOOK_NS;
      hostile.rings.put(0, ring);
      hostile.rings.putLong(Abi.Ring.HEAD, (long) i * posted); // otherwise few get beyond the head
      hostile.slots.put(0, slot);
      hostile.slots.putLong(Abi.UsageSlot.OPEN_SINCE_NS, 0); // waiting is another test's
      brief.post(at + 2_266_000, 740);
      brief.post(at + 5_407_000, 740);
      honest.post(at, 9_380 + 740);
      ledger.look(all.stream().map(Tenant::look).toList(), at + LOOK_NS);
      given = refund(ledger, honest);
    }
    assertThat(refund(ledger, hostile)).isZero();
    assertThat(given).isEqualTo(5 * 2 * 1_080_000L);
  }

  /** Paid and hostile: no more than 95 % of what was charged, none of it negative. */
  @Property
  void refundsAreWithinWhatWasCharged(
      @ForAll @Size(min = 8, max = 60)
          List<@LongRange(min = -60_000_000, max = 60_000_000) Long> starts,
      @ForAll @Size(min = 60, max = 60) List<@IntRange(min = 0, max = 50_000) Integer> lengths) {
    RefundLedger ledger = new RefundLedger(GpuModel.of(""));
    List<Tenant> tenants = List.of(new Tenant(1), new Tenant(2), new Tenant(3));
    ledger.look(tenants.stream().map(Tenant::look).toList(), START);
    long now = START;
    for (int i = 0; i < starts.size(); i++) {
      now += 20_000_000;
      tenants.get(i % 3).post(now + starts.get(i), lengths.get(i));
      ledger.look(tenants.stream().map(Tenant::look).toList(), now);
    }
    ledger.look(tenants.stream().map(Tenant::look).toList(), now + 1_100_000_000);
    for (Tenant tenant : tenants) {
      assertThat(refund(ledger, tenant)).isBetween(0L, tenant.rawBusyNs / 100 * 95);
    }
    assertThat(ledger.potNs()).isBetween(-1_000_000_000L, 1_000_000_000L);
  }
}
