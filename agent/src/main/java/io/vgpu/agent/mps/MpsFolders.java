package io.vgpu.agent.mps;

import io.vgpu.agent.shim.ShimFolders;
import io.vgpu.model.GpuUuid;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;

/**
 * Where one card's daemon and its clients meet: a tmpfs of its own below the agent's, because
 * containers can write there, and nothing else may suffer when they fill it.
 *
 * @param root the tmpfs; the same path for agent and host
 */
record MpsFolders(Path root) {
  /** Clients' shared memory and the daemon's logs together. */
  static final long TMPFS_BYTES = 1L << 30;

  static MpsFolders below(Path usageDir, GpuUuid card) {
    return new MpsFolders(usageDir.resolve("mps").resolve(card.value()));
  }

  /** Sockets and pipes of the daemon; {@code CUDA_MPS_PIPE_DIRECTORY}. */
  Path pipe() {
    return root.resolve("pipe");
  }

  /** {@code CUDA_MPS_LOG_DIRECTORY}. */
  Path log() {
    return root.resolve("log");
  }

  /** The agent's questions and the answers. */
  Path own() {
    return root.resolve("agent");
  }

  /** What daemon and clients have at {@code /dev/shm}. */
  Path sharedMemory() {
    return root.resolve("shm");
  }

  /** Where the daemon writes its process number. */
  Path pid() {
    return pipe().resolve("nvidia-cuda-mps-control.pid");
  }

  /** Makes what is missing. */
  void make(ShimFolders.TmpfsMount mount) throws IOException {
    Files.createDirectories(root);
    mount.ensure(root, TMPFS_BYTES);
    folder(pipe(), "rwxr-xr-x");
    folder(log(), "rwxrwxrwx"); // the server runs as its clients' user
    folder(own(), "rwx------");
    folder(sharedMemory(), "rwxrwxrwx");
  }

  private static void folder(Path path, String mode) throws IOException {
    Files.createDirectories(path);
    Files.setPosixFilePermissions(path, PosixFilePermissions.fromString(mode));
  }

  /** What a daemon that died has left: a client that met it would fail instead of doing without. */
  void clear() throws IOException {
    for (String name :
        new String[] {
          "control", "control_lock", "control_privileged", "nvidia-cuda-mps-control.pid"
        }) {
      Files.deleteIfExists(pipe().resolve(name));
    }
  }
}
