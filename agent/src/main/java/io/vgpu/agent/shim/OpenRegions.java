package io.vgpu.agent.shim;

import static io.vgpu.model.Checks.checkState;

import io.vgpu.agent.shim.ShimWriter.Owner;
import io.vgpu.model.ContainerRef;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The mapped {@code limits} and {@code load} of every container: the one place that changes them in
 * place. Lane {@code regions}: the arenas are confined to its thread, so that an access from
 * another one throws.
 */
final class OpenRegions {
  static final int MAX_CONTAINERS = 4096; // far above the pods that a kubelet admits

  private final ShimPaths paths;
  private final Consumer<Region> written;
  private final Map<Owner, OpenContainer> open = new HashMap<>();
  private @Nullable List<OpenContainer> all;
  private Consumer<OpenContainer> lastLook = container -> {};

  /** {@code written} is told of every region that was changed in place. */
  OpenRegions(ShimPaths paths, Consumer<Region> written) {
    this.paths = paths;
    this.written = written;
  }

  /** {@code look} sees each attached container before its figures go. */
  void onLastLook(Consumer<OpenContainer> look) {
    lastLook = look;
  }

  /** Figures of this container are about to be zeroed. */
  void lastLook(Owner owner) {
    OpenContainer mapped = open.get(owner);
    if (mapped != null) {
      lastLook.accept(mapped);
    }
  }

  /**
   * Maps a container's files anew, corrects entries that differ, and takes the files over for this
   * process.
   */
  void attach(ContainerRef container, List<DeviceLimits> devices, long writerEpoch)
      throws IOException {
    Owner owner = Owner.of(container);
    close(owner); // the files may have been replaced
    OpenContainer mapped = map(owner);
    List<DeviceLimits> present =
        mapped
            .limits()
            .read()
            .orElseThrow(() -> new IOException(paths.config(owner) + ": limits are unreadable"));
    if (present.size() != devices.size()) {
      throw new IOException(
          paths.config(owner)
              + ": limits hold "
              + present.size()
              + " cards, not "
              + devices.size());
    }
    for (int i = 0; i < devices.size(); i++) {
      if (!present.get(i).equals(devices.get(i))) {
        mapped.limits().update(i, devices.get(i));
        written.accept(Region.LIMITS);
      }
    }
    mapped.attached(container, devices, writerEpoch);
    all = null;
  }

  /** Whether {@code limits} holds exactly these entries. */
  boolean carries(Owner owner, List<DeviceLimits> devices) throws IOException {
    OpenContainer mapped = open.get(owner);
    try {
      Optional<List<DeviceLimits>> present = (mapped == null ? map(owner) : mapped).limits().read();
      return present.isPresent() && present.get().equals(devices);
    } catch (NoSuchFileException e) {
      return false;
    }
  }

  /** All that are mapped; the same collection as long as they and their cards are the same. */
  Collection<OpenContainer> all() {
    List<OpenContainer> known = all;
    if (known == null) {
      known = List.copyOf(open.values());
      all = known;
    }
    return known;
  }

  /** Unmaps a container's files. */
  void close(Owner owner) throws IOException {
    lastLook(owner);
    OpenContainer mapped = open.remove(owner);
    all = null;
    if (mapped != null) {
      mapped.close();
    }
  }

  /** Unmaps all. */
  void closeAll() throws IOException {
    for (Owner owner : List.copyOf(open.keySet())) {
      close(owner);
    }
  }

  private OpenContainer map(Owner owner) throws IOException {
    checkState(open.size() < MAX_CONTAINERS, "regions of %d containers are open", open.size());
    Arena arena = Arena.ofConfined();
    try {
      Path dir = paths.config(owner);
      OpenContainer mapped =
          new OpenContainer(
              owner,
              arena,
              map(Region.LIMITS, dir, arena),
              map(Region.LOAD, dir, arena),
              paths.usage(owner).resolve(Abi.USAGE_FILE));
      open.put(owner, mapped);
      all = null;
      return mapped;
    } finally {
      if (!open.containsKey(owner)) {
        arena.close();
      }
    }
  }

  private static MemorySegment map(Region kind, Path dir, Arena arena) throws IOException {
    Path file = dir.resolve(kind.fileName());
    try (FileChannel channel =
        FileChannel.open(
            file, StandardOpenOption.READ, StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS)) {
      // a shorter file would be a bus error at the first access; only we write here
      if (channel.size() != kind.bytes()) {
        throw new IOException(file + ": has " + channel.size() + " bytes, not " + kind.bytes());
      }
      return channel.map(MapMode.READ_WRITE, 0, kind.bytes(), arena);
    }
  }
}
