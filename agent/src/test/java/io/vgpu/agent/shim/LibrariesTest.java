package io.vgpu.agent.shim;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LibrariesTest {
  private static final String OLD = "libvgpu-control.so.1.0";
  private static final String OLDER = "libvgpu-control.so.0.9-0123456789ab";
  private static final String CURRENT = "libvgpu-control.so.1.1";

  @TempDir Path dir;
  @TempDir Path image;
  private Libraries libraries = new Libraries(Path.of("/"), Path.of("/"), CURRENT);

  @BeforeEach
  void install() throws IOException {
    for (String name : Set.of(OLD, OLDER, CURRENT, "ld.so.preload", "libvgpu-control.so")) {
      Files.writeString(dir.resolve(name), name);
    }
    Files.createDirectories(dir.resolve("libvgpu-control.so.d"));
    Path source = Files.writeString(image.resolve("lib.so"), "now");
    libraries = new Libraries(dir, source, CURRENT);
  }

  @Test
  void onlyWhatNoContainerHasGoes_13_42() throws IOException {
    assertThat(libraries.removeUnused(Set.of(OLD))).containsExactly(OLDER);
    assertThat(dir.resolve(OLD)).hasContent(OLD);
    assertThat(libraries.removeUnused(Set.of())).containsExactly(OLD);
    assertThat(dir.resolve(CURRENT)).hasContent(CURRENT);
    assertThat(dir.resolve("ld.so.preload")).exists();
    assertThat(dir.resolve("libvgpu-control.so")).exists();
    assertThat(dir.resolve("libvgpu-control.so.d")).isDirectory();
  }

  @Test
  void theCurrentOneIsPutBackAndElseLeftAlone() throws IOException {
    libraries.restore();
    assertThat(dir.resolve(CURRENT)).as("mapped, maybe").hasContent(CURRENT);
    Files.delete(dir.resolve(CURRENT));
    libraries.restore();
    assertThat(dir.resolve(CURRENT)).hasContent("now");
    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(dir.resolve(CURRENT))))
        .isEqualTo("rwxr-xr-x");
  }
}
