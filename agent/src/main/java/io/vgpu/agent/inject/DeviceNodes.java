package io.vgpu.agent.inject;

import io.vgpu.agent.gpu.PhysicalGpu;
import io.vgpu.agent.gpu.PhysicalGpu.MigDevice;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The device nodes of cards and of what goes with them, as host and container name them
 * (node-agent.md 2.8). Only nodes that exist are told. Looks at the file system; any thread.
 */
public final class DeviceNodes {
  private static final Logger log = LoggerFactory.getLogger(DeviceNodes.class);
  private static final List<String> CONTROL =
      List.of("/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia-uvm-tools", "/dev/nvidia-modeset");

  /** In place of a card's own node where Linux is a guest of Windows. */
  private static final String WSL = "/dev/dxg";

  private static final int FILE_TYPE = 0170000;
  private static final int CHARACTER_DEVICE = 0020000;

  /** One node: its path in the container and on the host. */
  public record Node(String path, String hostPath) {}

  private final Path root;
  private final Predicate<Path> exists;
  private final MigMinors minors;

  /**
   * {@code hostDriverRoot}: the driver's root on the host, whose {@code dev} is used where this
   * process sees it under the same path, else the host's own; {@code exists}: whether a node is
   * there.
   */
  public DeviceNodes(Path hostDriverRoot, Predicate<Path> exists, MigMinors minors) {
    this.root = Files.isDirectory(hostDriverRoot.resolve("dev")) ? hostDriverRoot : Path.of("/");
    this.exists = exists;
    this.minors = minors;
  }

  /** What every container with a card needs. */
  public List<Node> control() {
    return existing(CONTROL);
  }

  /** A card's own node. */
  public List<Node> card(PhysicalGpu gpu) {
    List<Node> guest = existing(List.of(WSL));
    return guest.isEmpty() ? existing(List.of("/dev/nvidia" + gpu.minor())) : guest;
  }

  /** A MIG slice's: its card's, and the right to use its GPU and compute instances. */
  public List<Node> slice(PhysicalGpu gpu, MigDevice slice) {
    List<Node> nodes = new ArrayList<>(card(gpu));
    List<String> caps =
        minors.access(gpu.minor(), slice.gpuInstance(), slice.computeInstance()).stream()
            .map(n -> "/dev/nvidia-caps/nvidia-cap" + n)
            .toList();
    List<Node> rights = existing(caps);
    if (rights.size() < 2) {
      log.warn(
          "MIG slice without the nodes of its access rights [slice: {}, found: {}]",
          slice.uuid(),
          rights);
    }
    nodes.addAll(rights);
    return nodes;
  }

  /** The nodes with these paths that exist. */
  List<Node> existing(List<String> paths) {
    return paths.stream()
        .filter(p -> exists.test(onHost(p)))
        .map(p -> new Node(p, onHost(p).toString()))
        .toList();
  }

  /** The nodes of a folder whose names fit a glob, sorted. */
  List<Node> matching(String folder, String glob) {
    List<String> paths = new ArrayList<>();
    try (DirectoryStream<Path> files = Files.newDirectoryStream(onHost(folder), glob)) {
      files.forEach(f -> paths.add(folder + "/" + f.getFileName()));
    } catch (NoSuchFileException | NotDirectoryException e) {
      return List.of();
    } catch (IOException e) {
      log.warn("device folder not read [folder: {}, cause: {}]", onHost(folder), e.toString());
    }
    return existing(paths.stream().sorted().toList());
  }

  /** A character device below the driver's root or, failing that, at the path itself. */
  List<Node> characterDevice(String path) {
    for (Path candidate : List.of(onHost(path), Path.of(path))) {
      if (isCharacterDevice(candidate)) {
        return List.of(new Node(path, candidate.toString()));
      }
    }
    return List.of();
  }

  private Path onHost(String path) {
    return root.resolve(path.substring(1));
  }

  private static boolean isCharacterDevice(Path path) {
    try {
      return Files.getAttribute(path, "unix:mode") instanceof Integer mode
          && (mode & FILE_TYPE) == CHARACTER_DEVICE;
    } catch (IOException e) {
      return false; // not there, or not to be read: no device of ours
    }
  }
}
