package io.vgpu.agent.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.vgpu.agent.gpu.FakeCards;
import io.vgpu.agent.gpu.PhysicalGpu;
import io.vgpu.runtime.UsageException;
import java.util.List;
import org.junit.jupiter.api.Test;

class MpsDevicesTest {
  private static final List<PhysicalGpu> CARDS =
      List.of(
          FakeCards.card(0, 132, false),
          FakeCards.card(1, 132, false),
          FakeCards.card(2, 132, true),
          FakeCards.card(3, 132, false));

  private static List<Integer> chosen(String text) {
    return MpsDevices.parse(text).among(CARDS).stream().map(PhysicalGpu::index).toList();
  }

  @Test
  void namesCardsAndNeverOneInMigMode() {
    assertThat(chosen("")).isEmpty();
    assertThat(chosen("all")).containsExactly(0, 1, 3);
    assertThat(chosen("1..3")).containsExactly(1, 3);
    assertThat(chosen("2")).isEmpty();
    assertThat(chosen(FakeCards.uuid(3) + ", 0")).containsExactly(0, 3);
    assertThat(chosen("9")).isEmpty();
  }

  @Test
  void refusesWhatWouldChooseNothingSilently() {
    assertThatThrownBy(() -> MpsDevices.parse("all,1"))
        .isInstanceOf(UsageException.class)
        .hasMessage("--mps-devices: \"all\" must stand alone, not in [all, 1]");
    assertThatThrownBy(() -> MpsDevices.parse("0-3-5"))
        .isInstanceOf(UsageException.class)
        .hasMessageContaining("a range must read a..b or a-b");
  }
}
