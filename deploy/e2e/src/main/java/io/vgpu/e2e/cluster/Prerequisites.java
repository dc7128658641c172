package io.vgpu.e2e.cluster;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/**
 * What the machine must have before a cluster can start; {@code cluster/prerequisites.sh} installs
 * it.
 */
final class Prerequisites {
  private static final List<String> COMMANDS =
      List.of(
          "ip",
          "nsenter",
          "setsid",
          "iptables",
          "openssl",
          "gcc",
          "ldd",
          "busybox",
          "mount",
          "umount");
  private static final List<Path> FOLDERS =
      Stream.of("/usr/bin", "/bin", "/usr/sbin", "/sbin").map(Path::of).toList();

  private Prerequisites() {}

  /** Throws with everything that is missing, and the command that mends it. */
  static void check() {
    if (!Commands.must("id", "-u").equals("0")) {
      throw new ClusterException("the cluster needs root: network namespace, mounts, cgroups");
    }
    List<String> missing = COMMANDS.stream().filter(command -> !isThere(command)).toList();
    if (!missing.isEmpty()) {
      throw new ClusterException(
          "missing commands " + missing + "; run deploy/e2e/cluster/prerequisites.sh");
    }
  }

  private static boolean isThere(String command) {
    return FOLDERS.stream().anyMatch(folder -> Files.isExecutable(folder.resolve(command)));
  }
}
