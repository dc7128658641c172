package io.vgpu.agent.inject;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Which node {@code /dev/nvidia-caps/nvidia-cap<N>} carries the right to use an instance: the
 * driver's table {@code mig-minors}, lines such as {@code gpu0/gi1/ci0/access 12}.
 */
public final class MigMinors {
  private static final Logger log = LoggerFactory.getLogger(MigMinors.class);
  public static final MigMinors NONE = new MigMinors(Map.of());
  private static final Path TABLE = Path.of("driver/nvidia-caps/mig-minors");
  private static final Pattern LINE = Pattern.compile("(\\S+)\\s+([0-9]{1,9})");
  private static final long MAX_BYTES = 1 << 20;

  private final Map<String, Integer> minors;

  private MigMinors(Map<String, Integer> minors) {
    this.minors = Map.copyOf(minors);
  }

  /** Reads the table below the driver's own root, or of the host's {@code /proc}. */
  public static MigMinors read(Path containerDriverRoot, Path procRoot) {
    for (Path file :
        List.of(containerDriverRoot.resolve("proc").resolve(TABLE), procRoot.resolve(TABLE))) {
      Optional<MigMinors> read = read(file);
      if (read.isPresent()) {
        return read.get();
      }
    }
    return NONE;
  }

  private static Optional<MigMinors> read(Path file) {
    try {
      if (Files.size(file) > MAX_BYTES) {
        log.warn("table of MIG rights is too long [file: {}, at most: {}]", file, MAX_BYTES);
        return Optional.empty();
      }
      return Optional.of(parse(Files.readString(file, StandardCharsets.ISO_8859_1)));
    } catch (NoSuchFileException e) {
      return Optional.empty();
    } catch (IOException e) {
      log.warn("table of MIG rights not read [file: {}, cause: {}]", file, e.toString());
      return Optional.empty();
    }
  }

  static MigMinors parse(String text) {
    Map<String, Integer> minors = new HashMap<>();
    text.lines()
        .map(l -> LINE.matcher(l.strip()))
        .filter(Matcher::matches)
        .forEach(m -> minors.put(m.group(1), Integer.parseInt(m.group(2))));
    return new MigMinors(minors);
  }

  /** Of the GPU instance and of the compute instance in it, those that the table has. */
  List<Integer> access(int gpuMinor, int gpuInstance, int computeInstance) {
    String instance = "gpu" + gpuMinor + "/gi" + gpuInstance;
    List<Integer> found = new ArrayList<>();
    for (String right :
        List.of(instance + "/access", instance + "/ci" + computeInstance + "/access")) {
      Optional.ofNullable(minors.get(right)).ifPresent(found::add);
    }
    return List.copyOf(found);
  }
}
