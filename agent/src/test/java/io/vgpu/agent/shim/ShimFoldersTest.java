package io.vgpu.agent.shim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ShimFoldersTest {
  @TempDir Path root;
  private Path library = Path.of("library");
  private ShimPaths paths = new ShimPaths(Path.of("/"), Path.of("/"), Path.of("/"));

  @BeforeEach
  void prepare() throws IOException {
    library = Files.writeString(root.resolve("lib.so"), "first build");
    paths = new ShimPaths(root.resolve("M"), Path.of("/host"), root.resolve("T"));
  }

  private ShimFolders.Installed install() throws IOException {
    return ShimFolders.prepare(paths, library, "1.2", (dir, bytes) -> {});
  }

  private Path inManager(Path hostPath) {
    return paths.managerDir().resolve(hostPath.getFileName());
  }

  @Test
  void libraryAndPreloadLineAreInstalled() throws IOException {
    ShimFolders.Installed installed = install();
    assertThat(installed.hostLibrary()).isEqualTo(Path.of("/host/libvgpu-control.so.1.2"));
    assertThat(installed.version()).isEqualTo("1.2");
    assertThat(installed.hostPreload()).isEqualTo(Path.of("/host/ld.so.preload"));
    assertThat(inManager(installed.hostLibrary())).hasContent("first build");
    assertThat(inManager(installed.hostPreload()))
        .hasContent("/etc/vgpu-manager/driver/libvgpu-control.so\n");
    assertThat(
            PosixFilePermissions.toString(
                Files.getPosixFilePermissions(inManager(installed.hostPreload()))))
        .isEqualTo("rw-r--r--");
    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(paths.usageDir())))
        .isEqualTo("rwx--x--x");
    assertThat(installed.bootIdHash()).isNotZero();
  }

  @Test
  void theSameLibraryAgainIsLeftAlone() throws IOException {
    Path file = inManager(install().hostLibrary());
    Object inode = Files.getAttribute(file, "unix:ino");
    assertThat(inManager(install().hostLibrary())).isEqualTo(file);
    assertThat(Files.getAttribute(file, "unix:ino")).isEqualTo(inode);
  }

  @Test
  @DisplayName("13-42: a rebuild of one version is put beside the library that is mapped")
  void otherContentOfTheSameVersionGetsANameOfItsOwn() throws IOException {
    Path first = inManager(install().hostLibrary());
    Files.writeString(library, "second build");
    ShimFolders.Installed second = install();

    assertThat(first).hasContent("first build");
    assertThat(inManager(second.hostLibrary())).isNotEqualTo(first).hasContent("second build");
    assertThat(second.version()).matches("1\\.2-[0-9a-f]{12}");
    assertThat(install().hostLibrary()).isEqualTo(second.hostLibrary());
    Files.writeString(library, "first build");
    assertThat(inManager(install().hostLibrary())).isEqualTo(first);
  }

  @Test
  void aMissingOrEmptyLibraryIsNamed() throws IOException {
    Files.writeString(library, "");
    assertThatThrownBy(this::install).hasMessageContaining("--shim-library " + library);
    Files.delete(library);
    assertThatThrownBy(this::install).hasMessageContaining("must be a file");
  }
}
