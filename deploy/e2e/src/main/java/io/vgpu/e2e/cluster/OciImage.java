package io.vgpu.e2e.cluster;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import tools.jackson.databind.json.JsonMapper;

/**
 * Builds a one-layer image in memory and writes it as an OCI layout archive, which containerd
 * imports: no registry, no image builder. Not for several threads.
 */
final class OciImage {
  /** A file, a link or a folder of the layer. */
  private sealed interface Entry {
    record Folder(int mode) implements Entry {}

    record Link(String target) implements Entry {}

    record Content(int mode, byte[] bytes) implements Entry {}
  }

  private final String name;
  private final Map<String, Entry> entries = new TreeMap<>();
  private List<String> command = List.of();

  /** An empty image that will be known by the name, tag included. */
  OciImage(String name) {
    this.name = name;
  }

  OciImage folder(String path, int mode) {
    parentsOf(path);
    entries.put(relative(path), new Entry.Folder(mode));
    return this;
  }

  OciImage link(String path, String target) {
    parentsOf(path);
    entries.put(relative(path), new Entry.Link(target));
    return this;
  }

  OciImage file(String path, int mode, byte[] bytes) {
    parentsOf(path);
    entries.put(relative(path), new Entry.Content(mode, bytes.clone()));
    return this;
  }

  /** Adds a file of this machine with its content and whether it may be executed. */
  OciImage file(String path, Path source) {
    try {
      return file(path, Files.isExecutable(source) ? 0755 : 0644, Files.readAllBytes(source));
    } catch (IOException e) {
      throw new UncheckedIOException("cannot read " + source, e);
    }
  }

  OciImage command(String... words) {
    command = List.of(words);
    return this;
  }

  /** Writes the archive. */
  void write(Path archive) {
    try (TarWriter tar = new TarWriter(Files.newOutputStream(archive))) {
      byte[] layer = layer();
      byte[] config =
          json(
              Map.of(
                  "architecture", architecture(),
                  "os", "linux",
                  "config",
                      Map.of("Cmd", command, "Env", List.of("PATH=/usr/sbin:/usr/bin:/sbin:/bin")),
                  "rootfs", Map.of("type", "layers", "diff_ids", List.of(digest(layer)))));
      byte[] manifest =
          json(
              Map.of(
                  "schemaVersion",
                  2,
                  "mediaType",
                  "application/vnd.oci.image.manifest.v1+json",
                  "config",
                  descriptor("application/vnd.oci.image.config.v1+json", config),
                  "layers",
                  List.of(descriptor("application/vnd.oci.image.layer.v1.tar", layer))));
      Map<String, Object> root =
          new TreeMap<>(descriptor("application/vnd.oci.image.manifest.v1+json", manifest));
      root.put("annotations", Map.of("io.containerd.image.name", name));
      tar.file("oci-layout", 0644, json(Map.of("imageLayoutVersion", "1.0.0")));
      tar.file("index.json", 0644, json(Map.of("schemaVersion", 2, "manifests", List.of(root))));
      for (byte[] blob : List.of(layer, config, manifest)) {
        tar.file("blobs/sha256/" + digest(blob).substring("sha256:".length()), 0644, blob);
      }
    } catch (IOException e) {
      throw new UncheckedIOException("cannot write image " + name + " to " + archive, e);
    }
  }

  private byte[] layer() throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (TarWriter tar = new TarWriter(bytes)) {
      for (Map.Entry<String, Entry> entry : entries.entrySet()) {
        switch (entry.getValue()) {
          case Entry.Folder folder -> tar.directory(entry.getKey(), folder.mode());
          case Entry.Link link -> tar.symlink(entry.getKey(), link.target());
          case Entry.Content content -> tar.file(entry.getKey(), content.mode(), content.bytes());
        }
      }
    }
    return bytes.toByteArray();
  }

  private void parentsOf(String path) {
    List<String> missing = new ArrayList<>();
    for (Path p = Path.of(relative(path)).getParent(); p != null; p = p.getParent()) {
      missing.add(p.toString());
    }
    missing.forEach(folder -> entries.putIfAbsent(folder, new Entry.Folder(0755)));
  }

  private static String relative(String path) {
    if (!path.startsWith("/") || path.length() < 2 || path.contains("..")) {
      throw new IllegalArgumentException("image path '" + path + "': must be absolute and plain");
    }
    return path.substring(1);
  }

  private static Map<String, Object> descriptor(String mediaType, byte[] blob) {
    return Map.of("mediaType", mediaType, "digest", digest(blob), "size", blob.length);
  }

  private static byte[] json(Map<String, Object> value) {
    return JsonMapper.shared().writeValueAsString(value).getBytes(StandardCharsets.UTF_8);
  }

  private static String digest(byte[] blob) {
    try {
      byte[] hash = MessageDigest.getInstance("SHA-256").digest(blob);
      return "sha256:" + HexFormat.of().formatHex(hash);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every JDK has SHA-256", e);
    }
  }

  private static String architecture() {
    String arch = System.getProperty("os.arch");
    return arch.equals("aarch64") ? "arm64" : arch;
  }
}
