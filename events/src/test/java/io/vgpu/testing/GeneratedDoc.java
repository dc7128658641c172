package io.vgpu.testing;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Holds a generated page of {@code docs/} to what the code says. Run the test with {@code
 * -Dregenerate} to write the page anew.
 */
public final class GeneratedDoc {
  private GeneratedDoc() {}

  /**
   * Fails when {@code docs/NAME} differs from {@code content}; {@code name} is relative to docs.
   */
  public static void check(String name, String content) {
    Path file = docs().resolve(name);
    try {
      if (System.getProperty("regenerate") != null) {
        Files.writeString(file, content);
      }
      assertThat(Files.exists(file) ? Files.readString(file) : "")
          .as("docs/%s follows the code (mvn -Dregenerate -Dtest=… test writes it anew)", name)
          .isEqualTo(content);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static Path docs() {
    for (Path p = Path.of("").toAbsolutePath(); p != null; p = p.getParent()) {
      if (Files.isDirectory(p.resolve("docs/adr"))) {
        return p.resolve("docs");
      }
    }
    throw new IllegalStateException("no docs/adr above " + Path.of("").toAbsolutePath());
  }
}
