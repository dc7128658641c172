package io.vgpu.agent.refund;

import static org.assertj.core.api.Assertions.assertThat;

import io.vgpu.agent.shim.Abi;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Who shares a card is looked at as soon as that is worth something, and no sooner. */
class NextLookTest {
  private static final long T = 100_000_000_000L;
  private static final long MS = 1_000_000;

  private final RefundLedger ledger = new RefundLedger(GpuModel.of("H200"));
  private final TurnPlanner turns = new TurnPlanner();
  private final Tenant slow = new Tenant(1, 250);
  private final Tenant brief = new Tenant(2, 500);

  /** One container with one process. */
  private static final class Tenant {
    final long name;
    int permille;
    final ByteBuffer slots = zeros(Abi.SLOT_BYTES);
    final ByteBuffer rings = zeros(Abi.RING_BYTES);
    long head;
    long raw;
    long bucket;

    Tenant(long name, int permille) {
      this.name = name;
      this.permille = permille;
      slots.putInt(Abi.UsageSlot.STATE, Abi.SLOT_LIVE);
    }

    private static ByteBuffer zeros(int bytes) {
      return ByteBuffer.allocate(bytes).order(ByteOrder.LITTLE_ENDIAN);
    }

    void open(long since) {
      slots.putLong(Abi.UsageSlot.OPEN_SINCE_NS, since);
      slots.putInt(Abi.UsageSlot.INFLIGHT_US, since == 0 ? 0 : 1000);
    }

    void post(long start, int lengthUs) {
      int at = Abi.Ring.ENTRIES + (int) (head % Abi.RING_ENTRIES) * Abi.Interval.SIZEOF;
      rings.putLong(at + Abi.Interval.START_NS, start);
      rings.putInt(at + Abi.Interval.LENGTH_US, lengthUs);
      rings.putInt(at + Abi.Interval.DEVICE, 0);
      rings.putLong(Abi.Ring.HEAD, ++head);
      raw += lengthUs * 1000L;
    }

    Look look() {
      return new Look(name, 0, 1, permille, 1, 0, raw, bucket, slots, rings);
    }
  }

  private long look(long now) {
    ledger.look(List.of(slow.look(), brief.look()), now);
    List<TurnLook> looks = new ArrayList<>();
    for (Tenant t : List.of(slow, brief)) {
      boolean works = t.slots.getLong(Abi.UsageSlot.OPEN_SINCE_NS) != 0;
      looks.add(new TurnLook(t.name, works, false, false, t.permille, t.bucket, 0));
    }
    var unused = turns.plan(looks, now);
    return NextLook.after(ledger, turns);
  }

  /** A slice of 10.54 ms of which the neighbour had a part: 3.24 ms are refunded. */
  private void refundOne() {
    look(T - 20 * MS);
    for (long at : new long[] {2_266_000, 5_407_000, 8_548_000}) {
      brief.post(T + at, 740);
    }
    slow.post(T, 10_540);
  }

  @Test
  void whereNothingIsRefundedNothingIsUrgent() {
    look(T);
    slow.post(T + MS, 700);
    brief.post(T + 2 * MS, 700);
    assertThat(look(T + 20 * MS)).isEqualTo(NextLook.CALM_NS);
  }

  @Test
  void oneThatPaysOffItsShortestSliceSoonIsLookedAtBeforeItHas() {
    refundOne();
    slow.bucket = -7_300_000;
    assertThat(look(T + 11 * MS)).as("7.3 ms at 25 % take 29").isEqualTo(NextLook.CALM_NS);

    slow.permille = 900;
    assertThat(look(T + 12 * MS)).as("7.3 ms at 90 %").isBetween(8 * MS, 9 * MS);
  }

  @Test
  void aRefundThatIsAwaitedIsNotLate() {
    refundOne();
    look(T + 11 * MS);
    // a second one; the neighbour whose slice overlaps it is still at work
    brief.open(T + 42 * MS);
    slow.post(T + 40 * MS, 20_000);
    slow.bucket = -14_700_000;
    assertThat(look(T + 60 * MS))
        .as("without what is awaited it would owe 2 ms, which take 8")
        .isBetween(7 * MS, 9 * MS);
    slow.bucket = -12_000_000;
    assertThat(look(T + 68 * MS)).as("it could launch now").isEqualTo(NextLook.SOON_NS);
  }

  @Test
  void oneThatWorksAndSavesUpDoesNotGetThrough() {
    look(T);
    brief.open(T + MS);
    brief.bucket = 3_900_000;
    assertThat(look(T + 20 * MS)).isEqualTo(NextLook.CALM_NS);
    brief.bucket = 4_000_000;
    assertThat(look(T + 40 * MS)).isEqualTo(NextLook.SOON_NS);
    brief.open(0);
    assertThat(look(T + 60 * MS)).as("idle").isEqualTo(NextLook.CALM_NS);
  }

  @Test
  void aRingDoesNotRunOver() {
    look(T);
    for (int i = 0; i < 61; i++) {
      brief.post(T + i * 300_000L, 100);
    }
    assertThat(look(T + 20 * MS)).isEqualTo(NextLook.CALM_NS);
    for (int i = 0; i < 122; i++) {
      brief.post(T + 20 * MS + i * 150_000L, 100);
    }
    assertThat(look(T + 40 * MS)).as("twice as many").isEqualTo(10 * MS);
  }
}
