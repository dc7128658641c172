package io.vgpu.agent.gpu.nvml;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Where the driver's libraries are on a node (node-agent.md 2.1, step 4). Only {@code
 * libnvidia-ml.so.1} is needed (D21).
 */
final class DriverRoot {
  static final String LIBRARY = "libnvidia-ml.so.1";
  private static final Logger log = LoggerFactory.getLogger(DriverRoot.class);
  private static final List<String> DIRECTORIES =
      List.of(
          "",
          "usr/lib64",
          "usr/lib/x86_64-linux-gnu",
          "usr/lib/aarch64-linux-gnu",
          "lib64",
          "lib/x86_64-linux-gnu",
          "lib/aarch64-linux-gnu");

  private DriverRoot() {}

  /**
   * The library's path below {@code root}, links resolved; its bare name, for the linker to find,
   * where none is.
   */
  static String library(Path root) {
    for (String directory : DIRECTORIES) {
      Path candidate = root.resolve(directory).resolve(LIBRARY);
      try {
        Path real = candidate.toRealPath();
        if (Files.isRegularFile(real)) {
          return real.toString();
        }
      } catch (IOException e) {
        log.debug("no library here [path: {}, cause: {}]", candidate, e.toString());
      }
    }
    log.info("{} is not below {}: left to the dynamic linker", LIBRARY, root);
    return LIBRARY;
  }
}
