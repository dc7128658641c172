package io.vgpu.e2e.product;

import io.vgpu.e2e.cluster.Cluster;
import io.vgpu.e2e.cluster.ClusterException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * A driver root as a GPU node has it, made from a profile: the fake driver's libraries where a
 * driver's would lie, and device nodes of NVIDIA's major number. Nobody can open them (there is no
 * driver), but a container either has them or not. The cards themselves are a file that all
 * processes with the fake driver share.
 */
public final class FakeNode {
  private static final int NVIDIA_MAJOR = 195;
  private static final int CONTROL_MINOR = 255;
  private static final int MODESET_MINOR = 254;
  private static final int UVM_MAJOR = 235;
  private static final int CAPS_MAJOR = 237;
  private static final Pattern SLICE = Pattern.compile("mig (\\d+) .*\\bgi=(\\d+)\\b.*");
  static final String PROFILE = "node.gpus";

  private static final String LIBRARIES = "usr/lib64";

  private final Path root;
  private final Path profile;

  private FakeNode(Path root, Path profile) {
    this.root = root;
    this.profile = profile;
  }

  /** Makes (or makes again) the driver root below the cluster's run folder. */
  public static FakeNode create(Cluster cluster, Checkout checkout, String profileName) {
    Path root = cluster.paths().runDir().resolve("driver-root");
    Path profile = profileOf(cluster);
    try {
      Path libraries = Files.createDirectories(root.resolve(LIBRARIES));
      for (String library : List.of("libnvidia-ml.so.1", "libcuda.so.1")) {
        Files.copy(
            checkout.shim("fake/" + library),
            libraries.resolve(library),
            StandardCopyOption.REPLACE_EXISTING);
      }
      Files.createDirectories(cardsFolder(cluster));
      newCards(stateOf(cluster));
      Files.deleteIfExists(controlOf(cluster));
      Files.copy(checkout.profile(profileName), profile, StandardCopyOption.REPLACE_EXISTING);
      Path dev = Files.createDirectories(root.resolve("dev"));
      node(dev.resolve("nvidiactl"), NVIDIA_MAJOR, CONTROL_MINOR);
      node(dev.resolve("nvidia-modeset"), NVIDIA_MAJOR, MODESET_MINOR);
      node(dev.resolve("nvidia-uvm"), UVM_MAJOR, 0);
      node(dev.resolve("nvidia-uvm-tools"), UVM_MAJOR, 1);
      for (int card = 0; card < cards(profile); card++) {
        node(dev.resolve("nvidia" + card), NVIDIA_MAJOR, card);
      }
      rights(root, profile);
    } catch (IOException e) {
      throw new UncheckedIOException("cannot make the driver root " + root, e);
    }
    return new FakeNode(root, profile);
  }

  /**
   * Cards as new: empty, the first process makes of it what it should be. It is there before, since
   * a process of no particular user may come first, and cannot make files in our folder.
   */
  private static void newCards(Path state) throws IOException {
    Files.deleteIfExists(state);
    Files.createFile(state);
    Files.setPosixFilePermissions(state, PosixFilePermissions.fromString("rw-rw-rw-"));
  }

  /** Where the driver's libraries lie on the host. */
  static Path libraries(Cluster cluster) {
    return cluster.paths().runDir().resolve("driver-root").resolve(LIBRARIES);
  }

  /** The folder with profile and cards, which pods that use them mount. */
  static Path cardsFolder(Cluster cluster) {
    return cluster.paths().runDir().resolve("fake-gpu");
  }

  static Path profileOf(Cluster cluster) {
    return cardsFolder(cluster).resolve(PROFILE);
  }

  /** To which lines are appended while the node runs: errors, hangs, losses of cards. */
  public static Path controlOf(Cluster cluster) {
    return cardsFolder(cluster).resolve(PROFILE + ".control");
  }

  /** The cards: what {@code fake-gpu --state} reads from outside. */
  public static Path stateOf(Cluster cluster) {
    return cardsFolder(cluster).resolve(PROFILE + ".state");
  }

  /** The folder that plays {@code --container-driver-root} and {@code --host-driver-root}. */
  public Path root() {
    return root;
  }

  /** The profile that the fake library reads ({@code FAKE_GPUS}). */
  public Path profile() {
    return profile;
  }

  private static int cards(Path profile) throws IOException {
    try (Stream<String> lines = Files.lines(profile)) {
      return Math.toIntExact(lines.filter(l -> l.startsWith("device ")).count());
    }
  }

  /**
   * What the driver gives of MIG: a table of rights, and a node for each. A slice of a profile
   * without {@code ci=} has compute instance 0.
   */
  private static void rights(Path root, Path profile) throws IOException {
    StringBuilder table = new StringBuilder("config 1\nmonitor 2\n");
    int next = 3;
    Path caps = Files.createDirectories(root.resolve("dev/nvidia-caps"));
    for (String line : Files.readAllLines(profile)) {
      Matcher slice = SLICE.matcher(line);
      if (slice.matches()) {
        String instance = "gpu" + slice.group(1) + "/gi" + slice.group(2);
        for (String right : List.of(instance + "/access", instance + "/ci0/access")) {
          table.append(right).append(' ').append(next).append('\n');
          node(caps.resolve("nvidia-cap" + next), CAPS_MAJOR, next++);
        }
      }
    }
    Path folder = Files.createDirectories(root.resolve("proc/driver/nvidia-caps"));
    Files.writeString(folder.resolve("mig-minors"), table);
  }

  private static void node(Path path, int major, int minor) throws IOException {
    if (Files.exists(path)) {
      return;
    }
    List<String> command =
        List.of(
            "mknod",
            "-m",
            "666",
            path.toString(),
            "c",
            Integer.toString(major),
            Integer.toString(minor));
    Process process = new ProcessBuilder(command).inheritIO().start();
    try {
      if (process.waitFor() != 0) {
        throw new ClusterException(
            String.join(" ", command) + " ended with " + process.exitValue());
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new ClusterException("interrupted while making " + path, e);
    }
  }
}
