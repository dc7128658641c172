package io.vgpu.agent.refund;

import io.vgpu.agent.shim.Abi;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/**
 * Random containers of one card, mostly plausible and now and then hostile: written to a file for
 * the C side while the Java side plays the same looks. By seed.
 */
final class Scene {
  private final Random random;
  private final Bytes in;
  private final Bytes expected;
  private final GpuModel model;
  private boolean inDebt;

  Scene(long seed, Bytes in, Bytes expected, GpuModel model) {
    this.random = new Random(seed);
    this.in = in;
    this.expected = expected;
    this.model = model;
  }

  /** Little-endian numbers, one after the other. */
  static final class Bytes {
    private final ByteArrayOutputStream out = new ByteArrayOutputStream();
    private final ByteBuffer word = ByteBuffer.allocate(8).order(ByteOrder.LITTLE_ENDIAN);

    void u8(boolean v) {
      out.write(v ? 1 : 0);
    }

    void u32(int v) {
      word.putInt(0, v);
      out.write(word.array(), 0, 4);
    }

    void u64(long v) {
      word.putLong(0, v);
      out.write(word.array(), 0, 8);
    }

    byte[] array() {
      return out.toByteArray();
    }
  }

  private static final class Container {
    final long name;
    final int deviceCount;
    final int device;
    final long offset;
    final boolean borrows;
    final int permille;
    final ByteBuffer slots;
    final ByteBuffer rings;
    final Utilization utilization = new Utilization();
    long rawBusy;
    boolean present;
    long bucket;
    boolean working;
    final long[] busyUntil;

    Container(long name, Random random, int processes) {
      this.name = name;
      this.deviceCount = 1 + random.nextInt(3);
      this.device = random.nextInt(deviceCount);
      this.offset = random.nextInt(4) == 0 ? random.nextLong(-1_000_000_000, 1_000_000_000) : 0;
      this.borrows = random.nextBoolean();
      this.permille = random.nextInt(1001);
      this.slots = buffer(processes * Abi.SLOT_BYTES);
      this.rings = buffer(processes * Abi.RING_BYTES);
      this.busyUntil = new long[processes];
    }

    private static ByteBuffer buffer(int bytes) {
      return ByteBuffer.allocate(bytes).order(ByteOrder.LITTLE_ENDIAN);
    }
  }

  /** Returns how many intervals were settled. */
  long play(int looks, int count, int processes) {
    in.u32(looks);
    in.u32(count);
    in.u32(processes);
    RefundLedger ledger = new RefundLedger(model);
    TurnPlanner turns = new TurnPlanner();
    List<Container> containers = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      containers.add(new Container(i + 1, random, processes));
    }
    boolean hostile = random.nextInt(3) == 0;
    inDebt = random.nextBoolean();
    long now = random.nextLong(1_000_000_000L, 1_000_000_000_000L);
    for (int i = 0; i < looks; i++) {
      now += random.nextInt(20) == 0 ? random.nextInt(1_500_000_000) : random.nextInt(12_000_000);
      in.u64(now);
      for (Container c : containers) {
        write(c, now, processes, hostile);
      }
      ledger.look(
          containers.stream().filter(c -> c.present).map(c -> look(c, processes)).toList(), now);
      report(ledger, turns, containers, now);
    }
    return ledger.settled();
  }

  private static Look look(Container c, int processes) {
    return new Look(
        c.name,
        c.device,
        c.deviceCount,
        c.permille,
        processes,
        c.offset,
        c.rawBusy,
        c.bucket,
        c.slots,
        c.rings);
  }

  private void write(Container c, long now, int processes, boolean hostile) {
    c.present = random.nextInt(50) != 0;
    c.bucket =
        random.nextInt(10) == 0
            ? random.nextLong()
            : inDebt
                ? random.nextLong(-60_000_000, 3_000_000)
                : random.nextLong(-1_000_000, 50_000_000);
    Bytes process = new Bytes();
    c.working = false;
    for (int p = 0; p < processes; p++) {
      process(process, c, p, now, hostile);
    }
    if (hostile && random.nextInt(30) == 0) {
      c.rawBusy = random.nextLong();
    }
    in.u8(c.present);
    in.u32(c.device);
    in.u32(c.deviceCount);
    in.u32(c.permille);
    in.u64(c.offset);
    in.u64(c.rawBusy);
    in.u8(c.borrows);
    in.u8(false);
    in.u32(c.permille);
    in.u64(c.bucket);
    in.out.writeBytes(process.array());
  }

  private void process(Bytes out, Container c, int p, long now, boolean hostile) {
    int slot = p * Abi.SLOT_BYTES;
    int ring = p * Abi.RING_BYTES;
    int state = random.nextInt(10) == 0 ? random.nextInt(6) : Abi.SLOT_LIVE;
    long generation =
        random.nextInt(40) == 0
            ? random.nextInt(5)
            : c.slots.getLong(slot + Abi.UsageSlot.GENERATION);
    long open = random.nextInt(3) == 0 ? 0 : now + c.offset - random.nextInt(60_000_000);
    int inflight = random.nextInt(4);
    if (hostile && random.nextInt(10) == 0) {
      open = random.nextLong();
    }
    c.working |= open != 0;
    c.slots.putInt(slot + Abi.UsageSlot.STATE, state);
    c.slots.putLong(slot + Abi.UsageSlot.GENERATION, generation);
    c.slots.putLong(slot + Abi.UsageSlot.OPEN_SINCE_NS, open);
    c.slots.putInt(slot + Abi.UsageSlot.INFLIGHT_US + 4 * c.device, inflight);
    Bytes entries = new Bytes();
    int written = 0;
    long head = c.rings.getLong(ring + Abi.Ring.HEAD);
    for (int n = random.nextInt(6); n > 0; n--) {
      int index = (int) Long.remainderUnsigned(head, Abi.RING_ENTRIES);
      long length = random.nextInt(2) == 0 ? random.nextInt(3_100) : random.nextInt(60_000);
      long start =
          Math.max(c.busyUntil[p], now + c.offset - length * 1000 - random.nextInt(8_000_000));
      int device = random.nextInt(8) == 0 ? random.nextInt(4) : c.device;
      c.busyUntil[p] = start + length * 1000;
      if (random.nextInt(12) != 0) {
        c.rawBusy += length * 1000; // now and then it is not charged
      }
      if (hostile && random.nextInt(4) == 0) {
        start = random.nextInt(3) == 0 ? random.nextLong() : start - random.nextInt(100_000_000);
        length = random.nextInt(3) == 0 ? random.nextLong() : length;
      }
      entries.u32(index);
      entries.u64(start);
      entries.u32((int) length);
      entries.u32(device);
      int at = ring + Abi.Ring.ENTRIES + index * Abi.Interval.SIZEOF;
      c.rings.putLong(at + Abi.Interval.START_NS, start);
      c.rings.putInt(at + Abi.Interval.LENGTH_US, (int) length);
      c.rings.putInt(at + Abi.Interval.DEVICE, device);
      head++;
      written++;
    }
    if (hostile && random.nextInt(30) == 0) {
      head = random.nextBoolean() ? random.nextLong() : head + random.nextInt(400) - 100;
    }
    c.rings.putLong(ring + Abi.Ring.HEAD, head);
    out.u32(state);
    out.u64(generation);
    out.u64(open);
    out.u32(inflight);
    out.u64(head);
    out.u32(written);
    out.out.writeBytes(entries.array());
  }

  private void report(
      RefundLedger ledger, TurnPlanner turns, List<Container> containers, long now) {
    List<TurnLook> turnLooks = new ArrayList<>();
    for (Container c : containers) {
      ContainerLedger k = ledger.find(c.name);
      if (k == null) {
        expected.u64(-1);
        continue;
      }
      expected.u64(k.refundNs);
      expected.u64(k.othersActive);
      expected.u64(k.active);
      expected.u64(k.longestNs[0]);
      expected.u64(k.longestNs[1]);
      expected.u64(k.paidNs);
      expected.u64(k.shareNs);
      expected.u64(c.utilization.look(now, c.rawBusy, k.refundNs));
      turnLooks.add(
          new TurnLook(
              c.name, c.working, false, c.borrows, c.permille, c.bucket, k.longestSliceNs()));
    }
    for (Turn t : turns.plan(turnLooks, now)) {
      expected.u64(t.periodUs());
      expected.u64(t.offsetUs());
      expected.u64(t.lengthUs());
    }
    expected.u64(ledger.accepted());
    expected.u64(ledger.settled());
    expected.u64(ledger.refundedNs());
    expected.u64(ledger.clippedNs());
    expected.u64(ledger.potNs());
    for (RefundDrop why : RefundDrop.values()) {
      expected.u64(ledger.dropped(why));
    }
    expected.u64(NextLook.after(ledger, turns));
  }
}
