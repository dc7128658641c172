package io.vgpu.agent.shim;

import static io.vgpu.model.Checks.check;

import io.vgpu.agent.shim.DeviceLimits.Flag;
import io.vgpu.model.GpuUuid;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * {@code limits} of one container (abi.h): what it may use of each claimed card. Written whole
 * before the container exists, afterwards only entry by entry under the seqlock. Bound to the
 * thread of its segment's arena.
 */
final class LimitsRegion {
  private final MemorySegment segment;

  /** Views a segment of {@link Abi#LIMITS_BYTES}. */
  LimitsRegion(MemorySegment segment) {
    check(
        segment.byteSize() == Abi.LIMITS_BYTES,
        "limits of %d bytes: must have %d",
        segment.byteSize(),
        Abi.LIMITS_BYTES);
    this.segment = segment;
  }

  /** Makes a zeroed segment a region: entries first, magic last. */
  void format(List<DeviceLimits> devices, long writerEpoch, long bootIdHash) {
    check(
        devices.size() <= Abi.MAX_DEVICES,
        "limits for %d cards: at most %d",
        devices.size(),
        Abi.MAX_DEVICES);
    for (int i = 0; i < devices.size(); i++) {
      put(i, devices.get(i));
    }
    Region.LIMITS.writeHeader(segment, new Region.Header(devices.size(), writerEpoch, bootIdHash));
    Region.LIMITS.publish(segment);
  }

  /** The header, if this is a region. */
  Optional<Region.Header> header() {
    return Region.LIMITS.readHeader(segment);
  }

  /** Every entry, or empty when the file is no region or holds what we never write. */
  Optional<List<DeviceLimits>> read() {
    Optional<Region.Header> header = header();
    if (header.isEmpty()) {
      return Optional.empty();
    }
    List<DeviceLimits> devices = new ArrayList<>();
    for (int i = 0; i < header.get().deviceCount(); i++) {
      long at = at(i);
      Optional<Optional<DeviceLimits>> entry =
          Seqlock.read(segment, at + Abi.LimitsDevice.SEQ, () -> get(at));
      if (entry.isEmpty() || entry.get().isEmpty()) {
        return Optional.empty();
      }
      devices.add(entry.get().get());
    }
    return Optional.of(List.copyOf(devices));
  }

  /** Replaces one entry in place, for a container that may be reading. */
  void update(int index, DeviceLimits limits) {
    Seqlock.write(segment, at(index) + Abi.LimitsDevice.SEQ, () -> put(index, limits));
  }

  /** Says that this agent process owns the file now. */
  void takeOver(long writerEpoch) {
    Region.takeOver(segment, writerEpoch);
  }

  private static long at(int index) {
    return Abi.Limits.DEVICES + (long) Abi.LIMITS_STRIDE * index;
  }

  private void put(int index, DeviceLimits d) {
    long at = at(index);
    int flags = Abi.LIMIT_ACTIVE;
    for (Flag flag : d.flags()) {
      flags |= bit(flag);
    }
    Words.u32(segment, at + Abi.LimitsDevice.FLAGS, flags);
    Words.text(segment, at + Abi.LimitsDevice.UUID, Abi.UUID_BYTES, d.uuid().value());
    Words.u64(segment, at + Abi.LimitsDevice.MEM_LIMIT, d.memLimit());
    Words.u64(segment, at + Abi.LimitsDevice.MEM_PHYSICAL, d.memPhysical());
    Words.u32(segment, at + Abi.LimitsDevice.CORE_HARD_PERMILLE, d.coreHardPermille());
    Words.u32(segment, at + Abi.LimitsDevice.CORE_SOFT_PERMILLE, d.coreSoftPermille());
    // 0: the library's defaults
    Words.u32(segment, at + Abi.LimitsDevice.RUNAHEAD_US, 0);
    Words.u32(segment, at + Abi.LimitsDevice.BURST_US, 0);
    Words.u64(segment, at + Abi.LimitsDevice.HOST_PINNED_LIMIT, 0);
    Words.u32(segment, at + Abi.LimitsDevice.NVML_INDEX, d.nvmlIndex());
    Words.u32(segment, at + Abi.LimitsDevice.SM_COUNT, d.smCount());
    Words.u32(segment, at + Abi.LimitsDevice.MAX_STALL_MS, 0);
  }

  private Optional<DeviceLimits> get(long at) {
    int bits = Words.u32(segment, at + Abi.LimitsDevice.FLAGS);
    Set<Flag> flags = EnumSet.noneOf(Flag.class);
    int known = Abi.LIMIT_ACTIVE;
    for (Flag flag : Flag.values()) {
      known |= bit(flag);
      if ((bits & bit(flag)) != 0) {
        flags.add(flag);
      }
    }
    if ((bits & Abi.LIMIT_ACTIVE) == 0 || (bits & ~known) != 0) {
      return Optional.empty();
    }
    try {
      return Optional.of(
          new DeviceLimits(
              new GpuUuid(Words.text(segment, at + Abi.LimitsDevice.UUID, Abi.UUID_BYTES)),
              Words.u32(segment, at + Abi.LimitsDevice.NVML_INDEX),
              Words.u32(segment, at + Abi.LimitsDevice.SM_COUNT),
              flags,
              Words.u64(segment, at + Abi.LimitsDevice.MEM_LIMIT),
              Words.u64(segment, at + Abi.LimitsDevice.MEM_PHYSICAL),
              Words.u32(segment, at + Abi.LimitsDevice.CORE_HARD_PERMILLE),
              Words.u32(segment, at + Abi.LimitsDevice.CORE_SOFT_PERMILLE)));
    } catch (IllegalArgumentException e) {
      return Optional.empty(); // a value that no limits of ours can have
    }
  }

  private static int bit(Flag flag) {
    return switch (flag) {
      case MEMORY_LIMIT -> Abi.LIMIT_MEMORY;
      case COMPUTE_LIMIT -> Abi.LIMIT_COMPUTE;
      case OVERSUBSCRIBE -> Abi.LIMIT_OVERSUBSCRIBE;
      case BALANCE -> Abi.LIMIT_BALANCE;
      case MPS -> Abi.LIMIT_MPS;
      case LATENCY -> Abi.LIMIT_LATENCY;
    };
  }
}
