package io.vgpu.e2e.cluster;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The kubelet sets kernel settings of the whole machine; they are written down before and put back
 * after.
 */
final class KernelSettings {
  private static final Path ROOT = Path.of("/proc/sys");
  private static final List<String> KEYS =
      List.of(
          "vm/overcommit_memory",
          "vm/panic_on_oom",
          "kernel/panic",
          "kernel/panic_on_oops",
          "kernel/keys/root_maxkeys",
          "kernel/keys/root_maxbytes");

  private KernelSettings() {}

  static void save(ClusterPaths paths) {
    StringBuilder text = new StringBuilder();
    current().forEach((key, value) -> text.append(key).append(' ').append(value).append('\n'));
    try {
      Files.writeString(paths.kernelSettings(), text);
    } catch (IOException e) {
      throw new UncheckedIOException("cannot write " + paths.kernelSettings(), e);
    }
  }

  /** Puts back what differs; does nothing without a saved file. */
  static void restore(ClusterPaths paths) {
    changed(paths).forEach(KernelSettings::set);
  }

  /** Settings that differ from the saved ones, with the saved value. */
  static Map<String, String> changed(ClusterPaths paths) {
    Map<String, String> now = current();
    Map<String, String> changed = new TreeMap<>(saved(paths));
    changed.entrySet().removeIf(was -> was.getValue().equals(now.get(was.getKey())));
    return changed;
  }

  static Map<String, String> saved(ClusterPaths paths) {
    Map<String, String> saved = new TreeMap<>();
    try {
      if (Files.exists(paths.kernelSettings())) {
        for (String line : Files.readAllLines(paths.kernelSettings())) {
          int blank = line.indexOf(' ');
          saved.put(line.substring(0, blank), line.substring(blank + 1));
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException("cannot read " + paths.kernelSettings(), e);
    }
    return saved;
  }

  /** The settings that this kernel has. */
  static Map<String, String> current() {
    Map<String, String> now = new TreeMap<>();
    for (String key : KEYS) {
      Path file = ROOT.resolve(key);
      try {
        if (Files.exists(file)) {
          now.put(key, KernelFile.read(file).strip());
        }
      } catch (IOException e) {
        throw new UncheckedIOException("cannot read " + file, e);
      }
    }
    return now;
  }

  private static void set(String key, String value) {
    try {
      Files.writeString(ROOT.resolve(key), value);
    } catch (IOException e) {
      throw new UncheckedIOException("cannot set " + key + " back to " + value, e);
    }
  }
}
