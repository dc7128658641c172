package io.vgpu.agent.shim;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class NodeFoldersTest {
  private static final String OWNER = "1f0e9d-uid_main";

  @TempDir Path root;

  private Path file(String path) throws IOException {
    Path file = root.resolve(path);
    Path folder = file.getParent();
    if (folder != null) {
      Files.createDirectories(folder);
    }
    return Files.writeString(file, path);
  }

  private NodeFolders folders() {
    return new NodeFolders(new ShimPaths(root.resolve("M"), root.resolve("M"), root.resolve("T")));
  }

  @Test
  void allOfOursGoesAndTheFoldersWithIt() throws IOException {
    file("M/ld.so.preload");
    file("M/libvgpu-control.so.1.0");
    file("M/libvgpu-control.so.1.0-0123456789ab");
    file("M/checkpoints/allocations.json");
    file("M/checkpoints/tenure");
    file("M/registry/shim.sock");
    file("M/tools/nvidia-cdi-hook");
    file("M/" + OWNER + "/limits");
    file("T/" + OWNER + "/usage");
    file("T/mps/GPU-1/log");
    List<Path> unmounted = new ArrayList<>();
    assertThat(folders().remove(unmounted::add)).isEmpty();
    assertThat(root).isEmptyDirectory();
    assertThat(unmounted).containsExactly(root.resolve("T"));
    assertThat(folders().remove(unmounted::add)).as("once more").isEmpty();
  }

  @Test
  void whatIsNotOursStaysIsNamedAndLinksAreNotFollowed() throws IOException {
    Path foreign = file("M/notes-of-somebody.txt");
    Path beyond = file("elsewhere/keep");
    Files.createDirectories(root.resolve("M").resolve(OWNER));
    Files.createSymbolicLink(root.resolve("M").resolve(OWNER).resolve("l"), beyond.getParent());
    Files.createSymbolicLink(root.resolve("M").resolve("claims"), beyond.getParent());
    assertThat(folders().remove(folder -> {})).containsExactly(foreign);
    assertThat(foreign).exists();
    assertThat(beyond).exists();
    assertThat(root.resolve("M")).isDirectoryNotContaining("glob:**{_main,claims}");
  }
}
