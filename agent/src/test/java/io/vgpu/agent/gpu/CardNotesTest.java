package io.vgpu.agent.gpu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.vgpu.agent.gpu.PhysicalGpu.MigDevice;
import io.vgpu.claim.FormatException;
import io.vgpu.model.GpuUuid;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CardNotesTest {
  private static final PhysicalGpu PLAIN = card(0, "GPU-a", List.of());
  private static final PhysicalGpu CUT =
      card(1, "GPU-b", List.of(new MigDevice(new GpuUuid("MIG-c"), "1g.5gb", 7, 0, 14, 4864)));

  private static PhysicalGpu card(int index, String uuid, List<MigDevice> slices) {
    return new PhysicalGpu(
        index,
        index + 3,
        new GpuUuid(uuid),
        "NVIDIA \"A100\"",
        42_949_672_960L,
        "0000:3b:00.0",
        1,
        8.6f,
        108,
        !slices.isEmpty(),
        slices);
  }

  @Test
  void whatIsWrittenIsRead(@TempDir Path dir) throws IOException {
    CardNotes notes = new CardNotes(-5, List.of(PLAIN, CUT));
    assertThat(CardNotes.decode(notes.encode())).isEqualTo(notes);
    Path file = dir.resolve("cards.json");
    Files.writeString(file, notes.encode());
    assertThat(CardNotes.read(file, -5)).isEqualTo(notes);
  }

  @Test
  void anotherBootMayCountTheCardsAnew(@TempDir Path dir) throws IOException {
    Path file = dir.resolve("cards.json");
    Files.writeString(file, new CardNotes(1, List.of(PLAIN)).encode());
    assertThat(CardNotes.read(file, 2)).isEqualTo(new CardNotes(2, List.of()));
  }

  @Test
  void whatCannotBeReadHindersNobody(@TempDir Path dir) throws IOException {
    CardNotes none = new CardNotes(7, List.of());
    assertThat(CardNotes.read(dir.resolve("absent"), 7)).isEqualTo(none);
    Path broken = dir.resolve("broken");
    Files.writeString(broken, "{\"version\":1,\"boot\":\"7\",\"cards\":[{}]}");
    assertThat(CardNotes.read(broken, 7)).isEqualTo(none);
    assertThat(CardNotes.read(dir, 7)).isEqualTo(none);
    assertThatThrownBy(() -> CardNotes.decode("{\"version\":2}"))
        .isInstanceOf(FormatException.class)
        .hasMessageContaining("only 1 is known");
  }

  @Test
  void aCardThatIsNotFoundNowStays() {
    CardNotes notes = new CardNotes(1, List.of(PLAIN, CUT));
    PhysicalGpu other = card(0, "GPU-z", List.of());
    assertThat(notes.with(List.of(other)).cards()).containsExactly(other, CUT);
  }

  @Property(tries = 500)
  void anyChangeIsReadOrRefused(@ForAll int at, @ForAll char value) {
    StringBuilder text = new StringBuilder(new CardNotes(1, List.of(PLAIN, CUT)).encode());
    text.setCharAt(Math.floorMod(at, text.length()), value);
    try {
      assertThat(CardNotes.decode(text.toString())).isNotNull();
    } catch (FormatException e) {
      assertThat(e).hasMessageStartingWith("notes of cards");
    }
  }
}
