package io.vgpu.kube;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.vgpu.runtime.UsageException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
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
