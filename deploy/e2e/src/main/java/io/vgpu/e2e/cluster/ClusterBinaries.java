package io.vgpu.e2e.cluster;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * Finds the folder of the built binaries, building them first (minutes, once per version) where
 * they are missing.
 */
public final class ClusterBinaries {
  private static final List<String> SCRIPT_PLACES =
      List.of("cluster/build-binaries.sh", "deploy/e2e/cluster/build-binaries.sh");

  private ClusterBinaries() {}

  /**
   * Searches build-binaries.sh from the working folder upwards and runs it; its progress goes to
   * standard error.
   */
  public static Path locate() {
    Path script = script(Path.of("").toAbsolutePath());
    try {
      Process process =
          new ProcessBuilder(script.toString())
              .redirectError(ProcessBuilder.Redirect.INHERIT)
              .start();
      String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      if (process.waitFor() != 0) {
        throw new ClusterException(script + " failed; what it printed says why");
      }
      return Path.of(output.strip());
    } catch (IOException e) {
      throw new UncheckedIOException("cannot run " + script, e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new ClusterException("interrupted while building the cluster's binaries", e);
    }
  }

  /** Versions of what was built, by product, as the build wrote them down. */
  static Map<String, String> versions(Path binaries) {
    Path file = binaries.resolve("versions");
    try {
      Map<String, String> versions = new TreeMap<>();
      for (String line : Files.readAllLines(file)) {
        int blank = line.indexOf(' ');
        versions.put(line.substring(0, blank), line.substring(blank + 1));
      }
      return versions;
    } catch (IOException e) {
      throw new UncheckedIOException(
          "cannot read " + file + "; is it a folder of build-binaries.sh?", e);
    }
  }

  private static Path script(Path from) {
    Optional<Path> found =
        Stream.iterate(Optional.of(from), Optional::isPresent, p -> p.map(Path::getParent))
            .flatMap(Optional::stream)
            .flatMap(folder -> SCRIPT_PLACES.stream().map(folder::resolve))
            .filter(Files::isExecutable)
            .findFirst();
    return found.orElseThrow(
        () -> new ClusterException("no cluster/build-binaries.sh found from " + from + " upwards"));
  }
}
