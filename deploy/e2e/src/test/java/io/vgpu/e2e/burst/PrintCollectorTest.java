package io.vgpu.e2e.burst;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PrintCollectorTest {
  @TempDir private Path folder;

  private Path file(String pod, String container, String text) throws IOException {
    Path file = folder.resolve(pod).resolve(container).resolve("0.log");
    Files.createDirectories(folder.resolve(pod).resolve(container));
    append(file, text);
    return file;
  }

  private static void append(Path file, String text) throws IOException {
    StringBuilder log = new StringBuilder();
    text.lines()
        .forEach(l -> log.append("2026-01-01T00:00:00.1Z stdout F ").append(l).append('\n'));
    Files.writeString(file, log, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
  }

  @Test
  void keepsWhatWasPrintedByUidThoughTheFileIsDeletedMeanwhile() throws IOException {
    try (PrintCollector collector = new PrintCollector(folder, "ns", () -> 7)) {
      Path file = file("ns_p_uid-1", "main", "### env\n");
      collector.scan();
      append(file, "A=1\n### end\n");
      Files.delete(file);
      collector.scan();
      assertThat(collector.prints())
          .containsExactly(new Print("uid-1", "p", "main", 0, 7, "### env\nA=1\n### end\n"));
      assertThat(collector.prints().getFirst().view()).isPresent();
    }
  }

  @Test
  void namesakesAreKeptApartAndOtherNamespacesLeftAlone() throws IOException {
    try (PrintCollector collector = new PrintCollector(folder, "ns", () -> 7)) {
      file("ns_p_uid-1", "main", "one\n");
      file("ns_p_uid-2", "main", "two\n");
      file("nsx_p_uid-3", "main", "three\n");
      collector.scan();
      assertThat(collector.prints()).extracting(Print::uid).containsExactly("uid-1", "uid-2");
    }
  }

  @Test
  void podsOfAnEarlierBurstAreNoneOfOurs() throws IOException {
    file("ns_p_uid-1", "main", "before\n");
    try (PrintCollector collector = new PrintCollector(folder, "ns", () -> 7)) {
      file("ns_p_uid-2", "main", "now\n");
      collector.scan();
      assertThat(collector.prints()).extracting(Print::uid).containsExactly("uid-2");
    }
  }

  @Test
  void folderThatIsNotThereYetIsEmpty() {
    try (PrintCollector collector = new PrintCollector(folder.resolve("none"), "ns", () -> 7)) {
      collector.scan();
      assertThat(collector.prints()).isEmpty();
    }
  }

  @Test
  void logOfTheRuntimeIsReadLineByLine() {
    assertThat(
            CriLog.text(
                """
                2026-01-01T00:00:00.1Z stdout P half a
                2026-01-01T00:00:00.1Z stdout F  line
                2026-01-01T00:00:00.1Z stdout F\s
                2026-01-01T00:00:00.1Z stderr F cat: no such file
                2026-01-01T00:00:00.1Z stdout F whole
                2026-01-01T00:00:00.1Z stdout F being writ"""))
        .isEqualTo("half a line\n\nwhole\n");
  }
}
