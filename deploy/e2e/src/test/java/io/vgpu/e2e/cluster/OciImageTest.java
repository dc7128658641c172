package io.vgpu.e2e.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** An image archive is read back by the machine's own tar and sha256sum. */
class OciImageTest {
  private static final String LONG = "/deep/" + "d".repeat(120) + "/file";

  @TempDir private Path folder = Path.of("");

  @BeforeEach
  void unpack() {
    Path archive = folder.resolve("image.tar");
    new OciImage("localhost/x:1")
        .folder("/tmp", 01777)
        .file("/usr/bin/tool", 0755, bytes("#!"))
        .file(LONG, 0600, bytes("x".repeat(513)))
        .file("/empty", 0644, bytes(""))
        .link("/bin", "usr/bin")
        .command("/bin/tool", "arg")
        .write(archive);
    Commands.must("tar", "-xf", archive.toString(), "-C", folder.toString());
  }

  @Test
  void indexNamesTheImageAndEveryBlobBearsItsDigest() throws IOException {
    JsonNode manifest = json(folder.resolve("index.json")).path("manifests").path(0);
    assertThat(manifest.path("annotations").path("io.containerd.image.name").asString())
        .isEqualTo("localhost/x:1");
    try (var blobs = Files.list(folder.resolve("blobs/sha256"))) {
      assertThat(blobs)
          .hasSize(3)
          .allSatisfy(
              blob ->
                  assertThat(Commands.must("sha256sum", blob.toString()))
                      .startsWith(blob.getFileName().toString()));
    }
    JsonNode content = json(blob(manifest));
    JsonNode config = json(blob(content.path("config")));
    assertThat(config.path("config").path("Cmd").toString()).isEqualTo("[\"/bin/tool\",\"arg\"]");
    assertThat(config.path("rootfs").path("diff_ids").path(0).asString())
        .isEqualTo(content.path("layers").path(0).path("digest").asString());
  }

  @Test
  void layerHoldsFilesLinksModesAndLongNames() throws IOException {
    JsonNode manifest = json(folder.resolve("index.json")).path("manifests").path(0);
    Path layer = blob(json(blob(manifest)).path("layers").path(0));
    Path root = Files.createDirectory(folder.resolve("root"));
    Commands.must("tar", "-xpf", layer.toString(), "-C", root.toString());
    assertThat(Files.readString(root.resolve(LONG.substring(1)))).isEqualTo("x".repeat(513));
    assertThat(root.resolve("usr/bin/tool")).isExecutable();
    assertThat(root.resolve("empty")).isEmptyFile();
    assertThat(Files.readSymbolicLink(root.resolve("bin"))).isEqualTo(Path.of("usr/bin"));
    assertThat(Commands.must("stat", "-c", "%a", root.resolve("tmp").toString())).isEqualTo("1777");
  }

  @Test
  void refusesPathsThatLeaveTheImage() {
    assertThatThrownBy(() -> new OciImage("x").file("/../etc/passwd", 0644, bytes("")))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("image path");
  }

  private Path blob(JsonNode descriptor) {
    String digest = descriptor.path("digest").asString();
    return folder.resolve("blobs").resolve(digest.replace(':', '/'));
  }

  private static JsonNode json(Path file) throws IOException {
    return JsonMapper.shared().readTree(Files.readString(file));
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }
}
