package io.vgpu.agent.health;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.vgpu.claim.FormatException;
import io.vgpu.model.GpuUuid;
import java.util.Map;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;

class HealthNotesTest {
  private static final HealthNotes NOTES =
      new HealthNotes(
          -7,
          Map.of(
              new GpuUuid("GPU-a"), new HealthNotes.Note("XID 79", true, 3),
              new GpuUuid("MIG-b"), new HealthNotes.Note("XID \"62\"\n", false, 1)));

  @Test
  void whatIsWrittenIsRead() {
    assertThat(HealthNotes.decode(NOTES.encode())).isEqualTo(NOTES);
    assertThat(HealthNotes.decode(HealthNotes.NONE.encode())).isEqualTo(HealthNotes.NONE);
  }

  @Test
  void aRebootMakesEveryCardNew() {
    assertThat(NOTES.after(-7)).hasSize(2);
    assertThat(NOTES.after(8)).isEmpty();
  }

  @Test
  void anotherVersionIsRefused() {
    assertThatThrownBy(() -> HealthNotes.decode("{\"version\":2}"))
        .isInstanceOf(FormatException.class)
        .hasMessageContaining("version 2: only 1");
  }

  @Property
  void anyChangeIsReadOrRefused(@ForAll int at, @ForAll char value) {
    StringBuilder text = new StringBuilder(NOTES.encode());
    text.setCharAt(Math.floorMod(at, text.length()), value);
    try {
      assertThat(HealthNotes.decode(text.toString()).cards().values())
          .allMatch(n -> n.falls() >= 1);
    } catch (FormatException e) {
      assertThat(e).hasMessageContaining("health notes");
    }
  }
}
