package io.vgpu.agent.refund;

import static io.vgpu.model.Checks.check;

import io.vgpu.agent.shim.Abi;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * One container as it was at a look, slots copied before rings. The copies are hostile: any bytes
 * are allowed in them.
 *
 * @param name not 0, the same at each look
 * @param device which of its entries is the card
 * @param deviceCount its entries
 * @param sharePermille the most it may have
 * @param offsetNs container's clock less host's
 * @param rawBusyNs what it says it was charged
 * @param bucketNs negative: in debt, so it will not launch before long
 * @param slots {@code slotCount} slots, little-endian
 * @param rings as many rings
 */
public record Look(
    long name,
    int device,
    int deviceCount,
    int sharePermille,
    int slotCount,
    long offsetNs,
    long rawBusyNs,
    long bucketNs,
    ByteBuffer slots,
    ByteBuffer rings) {
  public Look {
    check(name != 0, "name of a container: must not be 0");
    check(
        deviceCount >= 1 && deviceCount <= Abi.MAX_DEVICES && device >= 0 && device < deviceCount,
        "device %d of %d: must be one of at most %d",
        device,
        deviceCount,
        Abi.MAX_DEVICES);
    check(
        slotCount >= 0
            && slotCount <= Abi.RING_SLOTS
            && slots.capacity() >= slotCount * Abi.SLOT_BYTES
            && rings.capacity() >= slotCount * Abi.RING_BYTES,
        "%d slots: must be at most %d, and copied",
        slotCount,
        Abi.RING_SLOTS);
    check(
        slots.order() == ByteOrder.LITTLE_ENDIAN && rings.order() == ByteOrder.LITTLE_ENDIAN,
        "copies: must be read as little-endian");
  }

  int state(int slot) {
    return slots.getInt(slot * Abi.SLOT_BYTES + Abi.UsageSlot.STATE);
  }

  long generation(int slot) {
    return slots.getLong(slot * Abi.SLOT_BYTES + Abi.UsageSlot.GENERATION);
  }

  long openSinceNs(int slot) {
    return slots.getLong(slot * Abi.SLOT_BYTES + Abi.UsageSlot.OPEN_SINCE_NS);
  }

  int inflightUs(int slot) {
    return slots.getInt(slot * Abi.SLOT_BYTES + Abi.UsageSlot.INFLIGHT_US + device * Integer.BYTES);
  }

  long head(int slot) {
    return rings.getLong(slot * Abi.RING_BYTES + Abi.Ring.HEAD);
  }

  private int entry(int slot, long n) {
    int index = (int) Long.remainderUnsigned(n, Abi.RING_ENTRIES);
    return slot * Abi.RING_BYTES + Abi.Ring.ENTRIES + index * Abi.Interval.SIZEOF;
  }

  long startNs(int slot, long n) {
    return rings.getLong(entry(slot, n) + Abi.Interval.START_NS);
  }

  long lengthNs(int slot, long n) {
    return Integer.toUnsignedLong(rings.getInt(entry(slot, n) + Abi.Interval.LENGTH_US)) * 1000;
  }

  int device(int slot, long n) {
    return rings.getInt(entry(slot, n) + Abi.Interval.DEVICE);
  }
}
