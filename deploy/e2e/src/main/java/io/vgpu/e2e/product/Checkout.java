package io.vgpu.e2e.product;

import io.vgpu.e2e.cluster.ClusterConfig.ImageFile;
import io.vgpu.e2e.cluster.ClusterException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * Where the built product lies: the folder that holds {@code bin/}, {@code cuda-shim/} and {@code
 * deploy/}.
 */
public record Checkout(Path root) {
  /** Finds it from the working folder upwards. */
  public static Checkout find() {
    for (Path p = Path.of("").toAbsolutePath(); p != null; p = p.getParent()) {
      if (Files.isRegularFile(p.resolve("deploy/e2e/cluster/build-binaries.sh"))) {
        return new Checkout(p);
      }
    }
    throw new ClusterException(
        "run this inside the checkout of VGPU-Manager: no deploy/e2e above the working folder");
  }

  /** A launcher of {@code bin/}; missing means that {@code make build} has not run. */
  public Path launcher(String name) {
    return required(root.resolve("bin").resolve(name));
  }

  /** A file that the build of the C library makes. */
  public Path shim(String name) {
    return required(root.resolve("cuda-shim/build").resolve(name));
  }

  /** A manifest of the classic path. */
  public Path manifest(String name) {
    return required(root.resolve("deploy/classic-local").resolve(name));
  }

  /** A profile of the fake driver, e.g. {@code 8xA100}. */
  public Path profile(String name) {
    return required(root.resolve("deploy/e2e/profiles").resolve(name + ".gpus"));
  }

  /** What containers of the tests use to print their own limits, and to use a card. */
  public List<ImageFile> exampleFiles() {
    return List.of(
        new ImageFile(shim("shim-inspect"), "/usr/bin/shim-inspect"),
        new ImageFile(shim("gpu-probe"), "/usr/bin/gpu-probe"),
        new ImageFile(shim("bench-work"), "/usr/bin/gpu-work"));
  }

  private static Path required(Path file) {
    if (!Files.exists(file)) {
      throw new ClusterException(file + " is missing: run make build first");
    }
    return file;
  }
}
