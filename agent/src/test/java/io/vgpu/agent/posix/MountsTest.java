package io.vgpu.agent.posix;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.jna.LastErrorException;
import com.sun.jna.Memory;
import com.sun.jna.Pointer;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class MountsTest {
  private static final String TABLE =
      """
      22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
      30 22 0:25 / /run rw,nosuid shared:5 - tmpfs tmpfs rw,size=1000k
      31 22 0:26 / /mnt/a\\040b rw - tmpfs tmpfs rw
      32 30 0:27 / /run/x rw - tmpfs tmpfs rw
      33 30 0:28 / /run/x rw - ext4 /dev/sdb rw
      broken line
      """;

  @Test
  void theTopmostMountExactlyThereCounts() {
    assertThat(MountTable.typeAt(TABLE, Path.of("/run"))).contains("tmpfs");
    assertThat(MountTable.typeAt(TABLE, Path.of("/run/vgpu-manager"))).isEmpty();
    assertThat(MountTable.typeAt(TABLE, Path.of("/mnt/a b"))).contains("tmpfs");
    assertThat(MountTable.typeAt(TABLE, Path.of("/run/x"))).contains("ext4");
  }

  private static final class FakeLibC implements Mounts.LibC {
    final List<String> calls = new ArrayList<>();
    int error;

    @Override
    public int mount(String source, String target, String type, long flags, @Nullable String data) {
      calls.add(target + " " + type + " " + data);
      if (error != 0) {
        throw new LastErrorException(error);
      }
      return 0;
    }

    @Override
    public int umount2(String target, int flags) {
      calls.add("end " + target);
      return 0;
    }

    @Override
    public Pointer strerror(int number) {
      Memory text = new Memory(16);
      text.setString(0, "error " + number);
      return text;
    }
  }

  @Test
  void aFolderWithoutATmpfsGetsOneOfTheGivenSize(@TempDir Path dir) throws IOException {
    FakeLibC libc = new FakeLibC();
    new Mounts(libc).ensureTmpfs(dir, 4096);
    assertThat(libc.calls).containsExactly(dir.toRealPath() + " tmpfs mode=0711,size=4096");
  }

  @Test
  void aRefusedMountIsSaidWithFolderAndCause(@TempDir Path dir) {
    FakeLibC libc = new FakeLibC();
    libc.error = 1;
    assertThatThrownBy(() -> new Mounts(libc).ensureTmpfs(dir, 4096))
        .isInstanceOf(IOException.class)
        .hasMessageContaining(dir.toString())
        .hasMessageContaining("error 1");
  }

  @Test
  void whereNoTmpfsIsNothingIsUnmounted(@TempDir Path dir) throws IOException {
    FakeLibC libc = new FakeLibC();
    new Mounts(libc).endTmpfs(dir);
    assertThat(libc.calls).isEmpty();
    new Mounts(libc).endTmpfs(Path.of("/dev/shm")); // a tmpfs on every machine
    assertThat(libc.calls).containsExactly("end " + Path.of("/dev/shm").toRealPath());
  }

  @Test
  void theRealCallIsAnsweredByTheKernel() {
    // no file system type of this name: refused whatever the caller's rights
    assertThatThrownBy(() -> Mounts.libc().mount("none", "/nonexistent", "no-such-type", 0, null))
        .isInstanceOf(LastErrorException.class);
    assertThat(Mounts.libc().strerror(2).getString(0)).isNotBlank();
  }
}
