package io.vgpu.agent.shim;

import io.vgpu.agent.shim.ShimWriter.Owner;
import io.vgpu.model.ContainerRef;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * One container whose files are mapped, for the rounds on lane {@code regions}: what it may use,
 * what it says it used, and the {@code load} it reads. Another attachment of the same container is
 * another object.
 */
public final class OpenContainer {
  private final Owner owner;
  private final Arena arena;
  private final LimitsRegion limits;
  private final MemorySegment loadSegment;
  private final LoadRegion load;
  private final Path usageFile;
  private List<DeviceLimits> devices = List.of();
  private @Nullable ContainerRef container;
  private @Nullable UsageCopy usage;
  private final @Nullable DriverMemory[] memory = new DriverMemory[Abi.MAX_DEVICES];

  OpenContainer(
      Owner owner, Arena arena, MemorySegment limits, MemorySegment load, Path usageFile) {
    this.owner = owner;
    this.arena = arena;
    this.limits = new LimitsRegion(limits);
    this.loadSegment = load;
    this.load = new LoadRegion(load);
    this.usageFile = usageFile;
  }

  public Owner owner() {
    return owner;
  }

  /** Its names; none while it is only looked at. */
  public Optional<ContainerRef> container() {
    return Optional.ofNullable(container);
  }

  /**
   * Its cards as attached, in the order of the regions' entries; none while it is only looked at.
   */
  public List<DeviceLimits> devices() {
    return devices;
  }

  /** Its {@code usage}, opened at the first call and kept open; fails when it is not there. */
  public UsageCopy usage() throws IOException {
    UsageCopy open = usage;
    if (open == null) {
      open = UsageCopy.open(usageFile);
      usage = open;
    }
    return open;
  }

  /**
   * Whether the container has cut or grown one of its two files, which {@link ShimVerticle#setBack}
   * mends.
   */
  public boolean misshapen() throws IOException {
    return usage().size() != Abi.USAGE_BYTES
        || Files.size(usageFile.resolveSibling(Abi.USAGE_LOCK_FILE)) != Abi.USAGE_LOCK_BYTES;
  }

  /** What its {@code load} says of a card. */
  public Optional<DeviceLoad> load(int device) {
    return load.read(device);
  }

  /** What was last measured of its memory on a card, by this process or one before. */
  public DriverMemory memory(int device) {
    DriverMemory known = memory[device];
    if (known == null) {
      known = load.read(device).map(DeviceLoad::memory).orElse(DriverMemory.NONE);
      memory[device] = known;
    }
    return known;
  }

  /** Keeps what was measured for who next writes {@code load}. */
  public void memory(int device, DriverMemory measured) {
    memory[device] = measured;
  }

  /** Replaces what its {@code load} says of a card. */
  public void updateLoad(int device, DeviceLoad figures) {
    load.update(device, figures);
  }

  /** The mapped {@code load}, on whose {@link #sleepWord} processes of the container sleep. */
  public MemorySegment loadMapping() {
    return loadSegment;
  }

  /** Where in {@code load} the word of a card is. */
  public static long sleepWord(int device) {
    return Abi.Load.DEVICES + (long) Abi.LOAD_STRIDE * device + Abi.LoadDevice.SEQ;
  }

  LimitsRegion limits() {
    return limits;
  }

  void attached(ContainerRef who, List<DeviceLimits> cards, long writerEpoch) {
    container = who;
    devices = List.copyOf(cards);
    limits.takeOver(writerEpoch);
    load.takeOver(writerEpoch);
  }

  void close() throws IOException {
    try {
      if (usage != null) {
        usage.close();
      }
    } finally {
      arena.close();
    }
  }
}
