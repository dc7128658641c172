package io.vgpu.kube;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.vgpu.runtime.UsageException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Keys rotate without a restart, and a bad file never takes the good keys away. */
class ClaimKeysTest {
  @Test
  void claimKeysFollowTheirFile(@TempDir Path dir) throws IOException {
    Path file = Files.writeString(dir.resolve("keys"), "0123456789abcdef\n");
    ClaimKeys keys = new ClaimKeys(file);
    var first = keys.get();
    assertThat(keys.refresh()).isFalse();
    assertThat(keys.get()).isSameAs(first);

    for (String bad : new String[] {"short\n", "", "x".repeat(70_000)}) {
      Files.writeString(file, bad);
      assertThat(keys.refresh()).isFalse();
      assertThat(keys.get()).isSameAs(first);
    }
    Files.delete(file);
    assertThat(keys.refresh()).isFalse();
    assertThat(keys.get()).isSameAs(first);

    Files.writeString(file, "fedcba9876543210\n0123456789abcdef\n");
    assertThat(keys.refresh()).isTrue();
    assertThat(keys.get()).isNotSameAs(first);
  }

  @Test
  void aFileThatIsAsItWasIsNotReadAgain(@TempDir Path dir) throws IOException {
    Path file = Files.writeString(dir.resolve("keys"), "0123456789abcdef\n");
    ClaimKeys keys = new ClaimKeys(file);
    keys.refresh();
    keys.refresh();
    FileTime then = Files.getLastModifiedTime(file);
    Files.writeString(file, "fedcba9876543210\n"); // as long, and it says the same time
    Files.setLastModifiedTime(file, then);
    assertThat(keys.refresh()).as("nothing tells that it should be read").isFalse();
    Files.setLastModifiedTime(file, FileTime.from(then.toInstant().plusMillis(1)));
    assertThat(keys.refresh()).isTrue();
  }

  @Test
  void aSecretIsReplacedByAnotherFileBehindTheSameName(@TempDir Path dir) throws IOException {
    Path old = Files.writeString(dir.resolve("old"), "0123456789abcdef\n");
    Path next = Files.writeString(dir.resolve("next"), "fedcba9876543210\n");
    Files.setLastModifiedTime(next, Files.getLastModifiedTime(old));
    Path file = Files.createSymbolicLink(dir.resolve("keys"), old);
    ClaimKeys keys = new ClaimKeys(file);
    keys.refresh();
    keys.refresh();
    Files.delete(file);
    Files.createSymbolicLink(file, next);
    assertThat(keys.refresh()).isTrue();
  }

  @Test
  void aKeyFileThatCannotBeUsedIsNamed(@TempDir Path dir) throws IOException {
    assertThatThrownBy(() -> new ClaimKeys(dir.resolve("none")))
        .isInstanceOf(UsageException.class)
        .hasMessageContaining("--claim-key-file")
        .hasMessageContaining("none");
    Path empty = Files.createFile(dir.resolve("empty"));
    assertThatThrownBy(() -> new ClaimKeys(empty))
        .isInstanceOf(UsageException.class)
        .hasMessageContaining("--claim-key-file " + empty);
  }
}
