package io.vgpu.agent.registration;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** A {@code /proc} in which a test says who is who. */
final class FakeProc {
  private final Path root;

  FakeProc(Path root) throws IOException {
    this.root = Files.createDirectory(root);
  }

  Path root() {
    return root;
  }

  /** A process of this pid, as its innermost namespace counts it, in the cgroup. */
  void process(long pid, int innerPid, long startTime, String cgroup) throws IOException {
    Path dir = Files.createDirectories(root.resolve(Long.toString(pid)));
    Files.writeString(dir.resolve("cgroup"), cgroup);
    Files.writeString(
        dir.resolve("status"),
        "Name:\tNSpid: 1\nPid:\t" + pid + "\nNSpid:\t" + pid + "\t" + innerPid + "\nSigQ:\t0\n");
    Files.writeString(
        dir.resolve("stat"),
        pid + " (a) S (b 9) S 1" + " 2".repeat(17) + " " + startTime + " 3 4\n");
  }

  void ends(long pid) throws IOException {
    Files.delete(root.resolve(Long.toString(pid)).resolve("stat"));
  }
}
