package io.vgpu.agent.mps;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** The words that run the daemon's program, which is also the one by which it is told things. */
@FunctionalInterface
interface MpsLauncher {
  List<String> words(MpsFolders folders, List<String> arguments);

  /**
   * Daemon and clients meet in {@code /dev/shm} too, and clients get a folder of their card's
   * there: so the program runs in a mount namespace of its own, with that folder in this place. It
   * finds the server and the driver beside it, so below the driver's root.
   */
  String SCRIPT =
      """
      set -e
      folder=$1 root=$2 program=$3
      shift 3
      mount --bind "$folder/shm" "$root/dev/shm"
      [ "$root" != / ] || exec "$program" "$@"
      mkdir -p "$root$folder"
      mount --bind "$folder" "$root$folder"
      exec chroot "$root" "$program" "$@"
      """;

  /** {@code program}: its path below the root. Needs CAP_SYS_ADMIN, {@code unshare} and a shell. */
  static MpsLauncher inRoot(Path driverRoot, Path program) {
    return (folders, arguments) -> {
      List<String> words =
          new ArrayList<>(
              List.of(
                  "unshare",
                  "--mount",
                  "--propagation",
                  "private",
                  "sh",
                  "-c",
                  SCRIPT,
                  "mps",
                  folders.root().toString(),
                  driverRoot.toString(),
                  program.toString()));
      words.addAll(arguments);
      return List.copyOf(words);
    };
  }
}
