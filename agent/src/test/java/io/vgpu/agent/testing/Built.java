package io.vgpu.agent.testing;

import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Where the tests find what other modules have built or hold; a missing one is a failure that says
 * what to run.
 */
public final class Built {
  private Built() {}

  /** A file below {@code cuda-shim/build}. */
  public static Path shim(String name) {
    Path file = directory("vgpu.shim.build").resolve(name);
    if (!Files.exists(file)) {
      throw new IllegalStateException(
          file
              + " is missing: run 'cmake -S cuda-shim -B cuda-shim/build && cmake --build cuda-shim/build'");
    }
    return file;
  }

  /** A file of {@code cuda-shim} itself. */
  public static Path shimSource(String name) {
    return directory("vgpu.shim.source").resolve(name);
  }

  /** A node's profile, e.g. {@code 8xA100.gpus}. */
  public static Path profile(String name) {
    return directory("vgpu.profiles").resolve(name);
  }

  /** A page of the documentation. */
  public static Path docs(String name) {
    return directory("vgpu.docs").resolve(name);
  }

  private static Path directory(String property) {
    String value = System.getProperty(property);
    if (value == null) {
      throw new IllegalStateException("system property " + property + " is set by agent/pom.xml");
    }
    return Path.of(value).toAbsolutePath().normalize();
  }
}
