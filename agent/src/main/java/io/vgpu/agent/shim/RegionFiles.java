package io.vgpu.agent.shim;

import io.vgpu.agent.shim.ShimWriter.Owner;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;

/**
 * Makes and removes a container's directories and files (node-agent.md 1.8). Each file appears
 * whole under its name or not at all. Nothing here is forced to the disk: after a reboot every file
 * is made anew, its boot id says so. Lane {@code files}.
 */
final class RegionFiles {
  private static final String DIR_MODE = "rwxr-xr-x";
  private static final String FILE_MODE = "rw-r--r--";
  private static final String USAGE_DIR_MODE = "rwx--x--x";
  private static final String USAGE_FILE_MODE = "rw-rw-rw-";

  private final ShimPaths paths;
  private final long bootIdHash;
  private final Consumer<Region> written;

  /** {@code written} is told of every file that was written. */
  RegionFiles(ShimPaths paths, long bootIdHash, Consumer<Region> written) {
    this.paths = paths;
    this.bootIdHash = bootIdHash;
    this.written = written;
  }

  /** Makes what is missing, of an earlier boot, or for other cards; keeps the rest as it is. */
  void make(Owner owner, List<DeviceLimits> devices, long writerEpoch) throws IOException {
    Path config = paths.config(owner);
    Disk.directory(config, DIR_MODE);
    // mount points: the directory is read-only in the container
    Disk.emptyFile(config.resolve(Abi.USAGE_FILE), FILE_MODE);
    Disk.emptyFile(config.resolve(Abi.USAGE_LOCK_FILE), FILE_MODE);

    Path limits = config.resolve(Abi.LIMITS_FILE);
    boolean sameCards = sameCards(limits, devices);
    makeUsage(owner, devices.size(), sameCards, writerEpoch);
    Path load = config.resolve(Abi.LOAD_FILE);
    if (!sameCards || !isOurs(Region.LOAD, load, devices.size())) {
      write(
          Region.LOAD,
          load,
          s -> new LoadRegion(s).format(devices.size(), writerEpoch, bootIdHash));
    }
    if (!sameCards) {
      write(
          Region.LIMITS, limits, s -> new LimitsRegion(s).format(devices, writerEpoch, bootIdHash));
    }
  }

  /** The container starts (again): its counters begin at zero. Makes the files if they are gone. */
  void resetUsage(Owner owner, long writerEpoch) throws IOException {
    Optional<List<DeviceLimits>> limits = readLimits(paths.config(owner).resolve(Abi.LIMITS_FILE));
    if (limits.isEmpty()) {
      throw new IOException(paths.config(owner) + ": holds no limits of ours");
    }
    makeUsage(owner, limits.get().size(), false, writerEpoch);
  }

  /** Gives what the running container has cut or grown its size back; its content stays. */
  void setBack(Owner owner, long writerEpoch) throws IOException {
    Optional<List<DeviceLimits>> limits = readLimits(paths.config(owner).resolve(Abi.LIMITS_FILE));
    Path dir = paths.usage(owner);
    Path usage = dir.resolve(Abi.USAGE_FILE);
    Path lock = dir.resolve(Abi.USAGE_LOCK_FILE);
    if (limits.isPresent() && Files.isRegularFile(usage, LinkOption.NOFOLLOW_LINKS)) {
      UsageReader.setBack(usage, limits.get().size(), writerEpoch, bootIdHash);
      written.accept(Region.USAGE);
    }
    if (Files.isRegularFile(lock, LinkOption.NOFOLLOW_LINKS)
        && Files.size(lock) != Abi.USAGE_LOCK_BYTES) {
      UsageReader.resetLock(lock);
    }
  }

  /** Removes both directories. */
  void remove(Owner owner) throws IOException {
    Disk.removeDirectory(paths.config(owner));
    Disk.removeDirectory(paths.usage(owner));
  }

  /** Everyone who has a directory below M or T. */
  Set<Owner> owners() throws IOException {
    Set<Owner> owners = new HashSet<>();
    for (Path root : List.of(paths.managerDir(), paths.usageDir())) {
      try (DirectoryStream<Path> entries = Files.newDirectoryStream(root)) {
        for (Path entry : entries) {
          if (Files.isDirectory(entry, LinkOption.NOFOLLOW_LINKS)) {
            ShimPaths.owner(String.valueOf(entry.getFileName())).ifPresent(owners::add);
          }
        }
      }
    }
    return Set.copyOf(owners);
  }

  private void makeUsage(Owner owner, int deviceCount, boolean keepIfSound, long writerEpoch)
      throws IOException {
    Path dir = paths.usage(owner);
    Disk.directory(dir, USAGE_DIR_MODE);
    Path usage = dir.resolve(Abi.USAGE_FILE);
    Path lock = dir.resolve(Abi.USAGE_LOCK_FILE);
    if (!(keepIfSound && isOurs(UsageReader.inspect(usage), deviceCount))) {
      Disk.emptyFile(usage, USAGE_FILE_MODE);
      UsageReader.reset(usage, deviceCount, writerEpoch, bootIdHash);
      written.accept(Region.USAGE);
    }
    Disk.emptyFile(lock, USAGE_FILE_MODE);
    if (Files.size(lock) != Abi.USAGE_LOCK_BYTES) {
      UsageReader.resetLock(lock);
    }
  }

  private boolean isOurs(UsageReader.State state, int deviceCount) {
    return state instanceof UsageReader.State.Sound sound && isOurs(sound.header(), deviceCount);
  }

  private boolean isOurs(Region.Header header, int deviceCount) {
    return header.bootIdHash() == bootIdHash && header.deviceCount() == deviceCount;
  }

  private boolean isOurs(Region kind, Path file, int deviceCount) throws IOException {
    try (Arena arena = Arena.ofConfined()) {
      return read(kind, file, arena)
          .flatMap(kind::readHeader)
          .filter(h -> isOurs(h, deviceCount))
          .isPresent();
    }
  }

  /**
   * Whether the file is of this boot and for these cards in this order; its values are compared
   * elsewhere, in place.
   */
  private boolean sameCards(Path limits, List<DeviceLimits> devices) throws IOException {
    return isOurs(Region.LIMITS, limits, devices.size())
        && readLimits(limits)
            .filter(
                found ->
                    found.stream()
                        .map(DeviceLimits::uuid)
                        .toList()
                        .equals(devices.stream().map(DeviceLimits::uuid).toList()))
            .isPresent();
  }

  private static Optional<List<DeviceLimits>> readLimits(Path file) throws IOException {
    try (Arena arena = Arena.ofConfined()) {
      return read(Region.LIMITS, file, arena).flatMap(s -> new LimitsRegion(s).read());
    }
  }

  private static Optional<MemorySegment> read(Region kind, Path file, Arena arena)
      throws IOException {
    if (!Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS) || Files.size(file) != kind.bytes()) {
      return Optional.empty();
    }
    MemorySegment copy = arena.allocate(kind.bytes(), 8);
    ByteBuffer buffer = copy.asByteBuffer();
    try (FileChannel in =
        FileChannel.open(file, StandardOpenOption.READ, LinkOption.NOFOLLOW_LINKS)) {
      while (buffer.hasRemaining() && in.read(buffer) > 0) {}
    }
    return buffer.hasRemaining() ? Optional.empty() : Optional.of(copy);
  }

  private void write(Region kind, Path file, Consumer<MemorySegment> format) throws IOException {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment content = arena.allocate(kind.bytes(), 8);
      format.accept(content);
      Disk.replace(file, content.asByteBuffer(), FILE_MODE, false);
    }
    written.accept(kind);
  }
}
