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
  private final ByteBuffer head = buffer(HEAD_BYTES);
  private ByteBuffer slots = buffer(0);
  private ByteBuffer rings = buffer(0);
  private int slotCount;
  private boolean whole; // refreshed, and nothing was missing

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
   * Copies anew, slots before rings. False when the file is shorter than it must be: then there are
   * no slots, and the device figures are those of the copy before.
   */
  public boolean refresh() throws IOException {
    slotCount = 0;
    whole = false;
    if (!read(head, HEAD_BYTES, 0)) {
      return false;
    }
    int highWater = head.getInt(Abi.Header.SLOT_HIGH_WATER);
    int count =
        highWater < 0 || highWater > Abi.RING_SLOTS
            ? Abi.RING_SLOTS
            : highWater; // it may say anything
    if (slots.capacity() < count * Abi.SLOT_BYTES) {
      slots = buffer(count * Abi.SLOT_BYTES);
      rings = buffer(count * Abi.RING_BYTES);
    }
    if (!read(slots, count * Abi.SLOT_BYTES, Abi.SLOTS_OFFSET)
        || !read(rings, count * Abi.RING_BYTES, Abi.RINGS_OFFSET)) {
      return false;
    }
    slotCount = count;
    whole = true;
    return true;
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
