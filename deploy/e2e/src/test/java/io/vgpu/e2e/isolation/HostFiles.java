package io.vgpu.e2e.isolation;

import io.vgpu.e2e.cluster.Cluster;
import io.vgpu.e2e.cluster.ClusterException;
import io.vgpu.e2e.product.Checkout;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Objects;

/** The files of containers as the host has them, and what attackers bring along. */
final class HostFiles {
  private final Cluster cluster;

  HostFiles(Cluster cluster) {
    this.cluster = cluster;
  }

  /** The agent's tmpfs. */
  Path usageRoot() {
    return cluster.paths().runDir().resolve("usage");
  }

  /** A file of a container in the agent's tmpfs. */
  Path usage(String podUid, String file) {
    return usageRoot().resolve(podUid + "_" + Tenants.CONTAINER).resolve(file);
  }

  /** The folder with the script and its program, linked in both ways. */
  Path tools() throws IOException, InterruptedException {
    Path tools = Files.createDirectories(cluster.paths().runDir().resolve("attack"));
    for (String name : List.of("attack.c", "attack.sh")) {
      try (InputStream in =
          Objects.requireNonNull(HostFiles.class.getResourceAsStream(name), name)) {
        Files.write(tools.resolve(name), in.readAllBytes());
      }
    }
    must(tools, "gcc", "-O1", "-o", "attack", "attack.c", "-ldl");
    must(tools, "gcc", "-O1", "-static", "-w", "-o", "attack-static", "attack.c");
    return tools;
  }

  /** A copy of a container's files and of the library, open to the user. */
  Path open(Checkout checkout, String podUid, int uid) throws IOException {
    Path open = Files.createDirectories(cluster.paths().runDir().resolve("open-" + uid));
    Path config =
        cluster.paths().runDir().resolve("manager").resolve(podUid + "_" + Tenants.CONTAINER);
    for (String name : List.of("limits", "load")) {
      give(config.resolve(name), open.resolve(name), uid);
    }
    for (String name : List.of("usage", "usage.lock")) {
      give(usage(podUid, name), open.resolve(name), uid);
    }
    give(checkout.shim("libvgpu-control.so"), open.resolve("libvgpu-control.so"), uid);
    Path preload = Files.writeString(open.resolve("ld.so.preload"), "# none\n");
    Files.setAttribute(preload, "unix:uid", uid);
    Files.setPosixFilePermissions(open, PosixFilePermissions.fromString("rwxrwxrwx"));
    return open;
  }

  private static void give(Path from, Path to, int uid) throws IOException {
    Files.write(to, Files.readAllBytes(from));
    Files.setPosixFilePermissions(to, PosixFilePermissions.fromString("rwxrwxrwx"));
    Files.setAttribute(to, "unix:uid", uid);
  }

  private static void must(Path folder, String... command)
      throws IOException, InterruptedException {
    Process process = new ProcessBuilder(command).directory(folder.toFile()).inheritIO().start();
    if (process.waitFor() != 0) {
      throw new ClusterException(String.join(" ", command) + " ended with " + process.exitValue());
    }
  }
}
