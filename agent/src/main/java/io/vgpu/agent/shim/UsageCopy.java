package io.vgpu.agent.shim;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * Copies of the parts of {@code usage} that refunds need, by positioned reads: the file is the
 * container's to shorten at any time, so it is never mapped. Everything copied is hostile. Keeps
 * the file open; lane {@code regions}.
 */
public final class UsageCopy implements AutoCloseable {
  private static final int HEAD_BYTES = Abi.Usage.EXPORTS; // header and devices

  private final FileChannel file;
  private final long[] chargedAtRings = new long[Abi.MAX_DEVICES];
  private ByteBuffer head = buffer(HEAD_BYTES); // and the slots, at their place, once there are any
  private ByteBuffer slots = buffer(0);
  private ByteBuffer rings = buffer(0);
  private int room; // slots that the buffers hold
  private int slotCount;
  private int ringCount; // rings copied last
  private boolean whole; // refreshed, and nothing was missing
  private long refreshedNs = Long.MIN_VALUE; // by one who names the time

  private UsageCopy(FileChannel file) {
    this.file = file;
  }

  static UsageCopy open(Path file) throws IOException {
    // the opening of a FIFO would wait for its other end; who could put one here could also wait
    // until after this look, but no container can: it has the two files, not their directory
    if (!Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)) {
      throw new IOException(file + ": is not a regular file");
    }
    return new UsageCopy(
        FileChannel.open(file, StandardOpenOption.READ, LinkOption.NOFOLLOW_LINKS));
  }

  private static ByteBuffer buffer(int bytes) {
    return ByteBuffer.allocateDirect(bytes).order(ByteOrder.LITTLE_ENDIAN);
  }

  /**
   * Copies anew, slots before rings. Rings only when something was charged since they were copied:
   * what a process posts it charges right after, and what is not charged earns nothing. False when
   * the file is shorter than it must be: then there are no slots, and the device figures are those
   * of the copy before.
   */
  public boolean refresh() throws IOException {
    int before = Math.min(slotCount, room);
    slotCount = 0;
    whole = false;
    // mostly there are as many slots as before, so that one call copies all of them
    if (!read(head, bytesWith(before), 0)) {
      return false;
    }
    int highWater = highWater();
    int count =
        highWater < 0 || highWater > Abi.RING_SLOTS
            ? Abi.RING_SLOTS
            : highWater; // it may say anything
    if (count > before) {
      makeRoom(count);
      if (!read(head, bytesWith(count), 0)) {
        return false;
      }
    }
    if (count > ringCount || wasCharged()) {
      ringCount = 0;
      for (int i = 0; i < Abi.MAX_DEVICES; i++) {
        chargedAtRings[i] = rawBusyNs(i);
      }
      if (!read(rings, count * Abi.RING_BYTES, Abi.RINGS_OFFSET)) {
        return false;
      }
      ringCount = count;
    }
    slotCount = count;
    whole = true;
    return true;
  }

  /** The same, but only once for one time: who has several cards is asked for by each. */
  public boolean refresh(long nowNs) throws IOException {
    if (nowNs != refreshedNs) {
      refreshedNs = nowNs;
      return refresh();
    }
    return whole;
  }

  private static int bytesWith(int slots) {
    return slots == 0 ? HEAD_BYTES : Abi.SLOTS_OFFSET + slots * Abi.SLOT_BYTES;
  }

  private void makeRoom(int count) {
    if (count <= room) {
      return;
    }
    head = buffer(bytesWith(count));
    slots = head.slice(Abi.SLOTS_OFFSET, count * Abi.SLOT_BYTES).order(ByteOrder.LITTLE_ENDIAN);
    rings = buffer(count * Abi.RING_BYTES);
    ringCount = 0;
    room = count;
  }

  private boolean wasCharged() {
    for (int i = 0; i < Abi.MAX_DEVICES; i++) {
      if (chargedAtRings[i] != rawBusyNs(i)) {
        return true;
      }
    }
    return false;
  }

  /** Whether the last copy was whole and said that no slot was ever used. */
  public boolean nobodyCame() {
    return whole && highWater() == 0;
  }

  /**
   * Copies only the device figures anew; slots and rings stay as they were. False as in {@link
   * #refresh}.
   */
  public boolean refreshFigures() throws IOException {
    return read(head, HEAD_BYTES, 0);
  }

  /**
   * Copies the device figures and every slot that the file says is in use, those without a ring
   * too, into a buffer of the caller's of {@link Abi#SLOTS} slots. How many were copied; -1 when
   * the file is shorter than it must be.
   */
  public int readSlots(ByteBuffer into) throws IOException {
    if (!refreshFigures()) {
      return -1;
    }
    int highWater = highWater(); // it may say anything
    int count = highWater < 0 || highWater > Abi.SLOTS ? Abi.SLOTS : highWater;
    return read(into, count * Abi.SLOT_BYTES, Abi.SLOTS_OFFSET) ? count : -1;
  }

  /** Copies one slot into a buffer of the caller's; false when the file is shorter. */
  public boolean readSlot(int slot, ByteBuffer into) throws IOException {
    return read(into, Abi.SLOT_BYTES, Abi.SLOTS_OFFSET + (long) slot * Abi.SLOT_BYTES);
  }

  /** The size of the file now. */
  public long size() throws IOException {
    return file.size();
  }

  private boolean read(ByteBuffer into, int bytes, long at) throws IOException {
    into.clear().limit(bytes);
    while (into.hasRemaining()) {
      if (file.read(into, at + into.position()) <= 0) {
        return false;
      }
    }
    return true;
  }

  /** Slots in use, as the file says: any number. */
  public int highWater() {
    return head.getInt(Abi.Header.SLOT_HIGH_WATER);
  }

  /** Slots copied, at most {@link Abi#RING_SLOTS}. */
  public int slotCount() {
    return slotCount;
  }

  /** The copy of the slots. */
  public ByteBuffer slots() {
    return slots;
  }

  /** The copy of the rings. */
  public ByteBuffer rings() {
    return rings;
  }

  /** GPU time charged before refunds. */
  public long rawBusyNs(int device) {
    return head.getLong(device(device) + Abi.UsageDevice.RAW_BUSY_NS);
  }

  /** GPU time that may still be spent. */
  public long bucketNs(int device) {
    return head.getLong(device(device) + Abi.UsageDevice.BUCKET_NS);
  }

  /** Changes when the file is reset, and with it all figures begin anew. */
  public long writerEpoch() {
    return head.getLong(Abi.Header.WRITER_EPOCH);
  }

  /** Allocations refused since the file was reset. */
  public long oomCount(int device) {
    return head.getLong(device(device) + Abi.UsageDevice.OOM_COUNT);
  }

  /** Bytes of the allocation refused last, unsigned. */
  public long oomBytes(int device) {
    return head.getLong(device(device) + Abi.UsageDevice.OOM_BYTES);
  }

  private static int device(int index) {
    return Abi.Usage.DEVICES + index * Abi.USAGE_STRIDE;
  }

  @Override
  public void close() throws IOException {
    file.close();
  }
}
