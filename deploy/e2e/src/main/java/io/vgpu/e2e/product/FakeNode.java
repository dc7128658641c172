package io.vgpu.e2e.product;

import io.vgpu.e2e.cluster.Cluster;
import io.vgpu.e2e.cluster.ClusterException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.stream.Stream;

/**
 * A driver root as a GPU node has it, made from a profile: the fake NVML library where a driver's
 * would lie, and device nodes of NVIDIA's major number. Nobody can open them (there is no driver),
 * but a container either has them or not.
 */
public final class FakeNode {
  private static final int NVIDIA_MAJOR = 195;
  private static final int CONTROL_MINOR = 255;
  private static final int MODESET_MINOR = 254;
  private static final int UVM_MAJOR = 235;

  private final Path root;
  private final Path profile;

  private FakeNode(Path root, Path profile) {
    this.root = root;
    this.profile = profile;
  }

  /** Makes (or makes again) the driver root below the cluster's run folder. */
  public static FakeNode create(Cluster cluster, Checkout checkout, String profileName) {
    Path root = cluster.paths().runDir().resolve("driver-root");
    Path profile = cluster.paths().runDir().resolve("profile.gpus");
    try {
      Path libraries = Files.createDirectories(root.resolve("usr/lib64"));
      Files.copy(
          checkout.shim("fake/libnvidia-ml.so.1"),
          libraries.resolve("libnvidia-ml.so.1"),
          StandardCopyOption.REPLACE_EXISTING);
      Files.copy(checkout.profile(profileName), profile, StandardCopyOption.REPLACE_EXISTING);
      Path dev = Files.createDirectories(root.resolve("dev"));
      node(dev.resolve("nvidiactl"), NVIDIA_MAJOR, CONTROL_MINOR);
      node(dev.resolve("nvidia-modeset"), NVIDIA_MAJOR, MODESET_MINOR);
      node(dev.resolve("nvidia-uvm"), UVM_MAJOR, 0);
      node(dev.resolve("nvidia-uvm-tools"), UVM_MAJOR, 1);
      for (int card = 0; card < cards(profile); card++) {
        node(dev.resolve("nvidia" + card), NVIDIA_MAJOR, card);
      }
    } catch (IOException e) {
      throw new UncheckedIOException("cannot make the driver root " + root, e);
    }
    return new FakeNode(root, profile);
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
