package io.vgpu.agent.inject;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The driver's libraries and programs that a container needs for CUDA and NVML (capabilities {@code
 * compute} and {@code utility}), as this process, the host and the container name them. What a
 * legacy runtime brings by itself, a CDI spec must spell out.
 */
final class DriverFiles {
  private static final Logger log = LoggerFactory.getLogger(DriverFiles.class);
  private static final List<String> LIBRARY_FOLDERS =
      List.of(
          "usr/lib64",
          "usr/lib/x86_64-linux-gnu",
          "usr/lib/aarch64-linux-gnu",
          "lib64",
          "lib/x86_64-linux-gnu",
          "lib/aarch64-linux-gnu");
  private static final List<String> LIBRARIES =
      List.of(
          "libcuda",
          "libcudadebugger",
          "libnvidia-allocator",
          "libnvidia-cfg",
          "libnvidia-compiler",
          "libnvidia-fatbinaryloader",
          "libnvidia-gpucomp",
          "libnvidia-ml",
          "libnvidia-nscq",
          "libnvidia-nvvm",
          "libnvidia-opencl",
          "libnvidia-pkcs11",
          "libnvidia-pkcs11-openssl3",
          "libnvidia-ptxjitcompiler");
  private static final List<String> PROGRAMS =
      List.of(
          "usr/bin/nvidia-smi",
          "usr/bin/nvidia-debugdump",
          "usr/bin/nvidia-cuda-mps-control",
          "usr/bin/nvidia-cuda-mps-server");

  /** One file: where it lies on the host and where the container shall see it. */
  record Bind(String hostPath, String containerPath) {}

  private final Path seen;
  private final Path host;

  /** {@code seen}: the driver's root as this process sees it; {@code host}: as the host does. */
  DriverFiles(Path seen, Path host) {
    this.seen = seen;
    this.host = host;
  }

  /** Every name of every library, links too, so that the container needs no cache of the linker. */
  List<Bind> libraries() {
    for (String folder : LIBRARY_FOLDERS) {
      List<Bind> found = librariesIn(folder);
      if (!found.isEmpty()) {
        return found;
      }
    }
    log.warn("no library of the driver found for CDI [root: {}]", seen);
    return List.of();
  }

  private List<Bind> librariesIn(String folder) {
    List<Bind> found = new ArrayList<>();
    try (DirectoryStream<Path> files =
        Files.newDirectoryStream(seen.resolve(folder), DriverFiles::isWanted)) {
      for (Path file : files) {
        bind(folder + "/" + file.getFileName()).ifPresent(found::add);
      }
    } catch (NoSuchFileException | NotDirectoryException e) {
      return List.of();
    } catch (IOException e) {
      log.warn("driver folder not read [folder: {}, cause: {}]", folder, e.toString());
    }
    found.sort(Comparator.comparing(Bind::containerPath));
    return found;
  }

  private static boolean isWanted(Path file) {
    String name = String.valueOf(file.getFileName());
    int end = name.indexOf(".so");
    return end > 0 && LIBRARIES.contains(name.substring(0, end));
  }

  List<Bind> programs() {
    return existing(PROGRAMS);
  }

  List<Bind> existing(List<String> relative) {
    return relative.stream().map(this::bind).flatMap(Optional::stream).toList();
  }

  /** A link is followed here: on the host it might lead out of the driver's root. */
  private Optional<Bind> bind(String relative) {
    try {
      Path root = seen.toRealPath();
      Path real = seen.resolve(relative).toRealPath();
      return real.startsWith(root)
          ? Optional.of(new Bind(host.resolve(root.relativize(real)).toString(), "/" + relative))
          : Optional.empty();
    } catch (IOException e) {
      return Optional.empty(); // not there, or a link to nowhere
    }
  }
}
