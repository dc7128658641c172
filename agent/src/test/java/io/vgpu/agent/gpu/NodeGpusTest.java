package io.vgpu.agent.gpu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.vgpu.agent.testing.FakeGpuDriver;
import io.vgpu.model.GpuDevice;
import io.vgpu.model.GpuDevice.Withheld;
import io.vgpu.model.GpuUuid;
import io.vgpu.model.NodeConfig;
import io.vgpu.runtime.UsageException;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class NodeGpusTest {
  private final FakeGpuDriver driver = new FakeGpuDriver(3);

  private NodeGpus gpus(NodeConfig config, String excluded) {
    return new NodeGpus(
        driver.discover(), config, Optional.empty(), DeviceSelection.parse(excluded));
  }

  @Test
  void publishesWhatMayBePromised() {
    GpuDevice device = gpus(new NodeConfig(4, 0.9, 1, 1.5), "").published().devices().getFirst();
    assertThat(device.core()).isEqualTo(90);
    assertThat(device.memory()).isEqualTo(61440);
    assertThat(device.number()).isEqualTo(4);
    assertThat(device.healthy()).isTrue();
  }

  @Test
  void excludedCardsAreUnhealthyFromTheStart() {
    NodeGpus gpus = gpus(NodeConfig.DEFAULT, "0, " + FakeGpuDriver.uuid(2));
    assertThat(gpus.cards())
        .extracting(GpuInventory.Card::healthy)
        .containsExactly(false, true, false);
    assertThat(gpus.published().devices())
        .extracting(GpuDevice::healthy)
        .containsExactly(false, true, false);
    assertThat(gpus.published().devices())
        .extracting(GpuDevice::withheld)
        .as("told apart from sick ones")
        .containsExactly(Withheld.EXCLUDED, Withheld.NO, Withheld.EXCLUDED);
    assertThat(gpus.cards().getFirst().cause()).isEqualTo("excluded by configuration");
  }

  @Test
  void aMarkIsNewsOnce() {
    NodeGpus gpus = gpus(NodeConfig.DEFAULT, "");
    assertThat(gpus.markUnhealthy(FakeGpuDriver.uuid(1), "XID 79")).isTrue();
    assertThat(gpus.markUnhealthy(FakeGpuDriver.uuid(1), "XID 48")).isFalse();
    assertThat(gpus.markUnhealthy(new GpuUuid("GPU-other"), "XID 79")).isFalse();
    assertThat(gpus.card(FakeGpuDriver.uuid(1)).map(GpuInventory.Card::cause)).contains("XID 79");
  }

  @Test
  void selectionsAreReadAsTheSpecificationWorksOut() {
    assertThat(DeviceSelection.parse("0..2,4..6").ids())
        .containsExactlyInAnyOrder("0", "1", "2", "4", "5", "6");
    assertThat(DeviceSelection.parse("\"GPU-x\"").ids()).containsExactly("GPU-x");
    assertThat(DeviceSelection.parse("0,1,3,3").ids()).containsExactlyInAnyOrder("0", "1", "3");
    assertThat(DeviceSelection.parse("5..2").ids()).isEmpty();
    assertThat(DeviceSelection.parse(" , ")).isEqualTo(DeviceSelection.NONE);
    assertThat(DeviceSelection.of(List.of("1..9999")).ids()).hasSize(1023);
  }

  @Test
  @DisplayName("13-49: both spellings of a range exclude what they say")
  void aRangeIsReadInBothSpellings() {
    assertThat(DeviceSelection.parse("0-1, 4-7").ids())
        .containsExactlyInAnyOrder("0", "1", "4", "5", "6", "7");
    assertThat(DeviceSelection.parse("0-1")).isEqualTo(DeviceSelection.parse("0..1"));
    assertThat(gpus(NodeConfig.DEFAULT, "0-1").cards())
        .extracting(GpuInventory.Card::healthy)
        .containsExactly(false, false, true);
  }

  @Test
  void whatOnlyLooksLikeARangeIsRefused() {
    for (String item : List.of("1..x", "0-12345", "1...2", "..")) {
      assertThatThrownBy(() -> DeviceSelection.parse(item))
          .isInstanceOf(UsageException.class)
          .hasMessageContaining("\"" + item + "\"")
          .hasMessageContaining("a..b or a-b");
    }
  }

  @Test
  void anotherDivisionAndOtherExclusionsApplyAtOnce() {
    NodeGpus gpus = gpus(NodeConfig.DEFAULT, "0");
    gpus.markUnhealthy(FakeGpuDriver.uuid(1), "XID 79");
    assertThat(gpus.reconfigure(NodeConfig.DEFAULT, DeviceSelection.parse("0"))).isFalse();
    assertThat(gpus.reconfigure(new NodeConfig(4, 1, 1, 2), DeviceSelection.parse("1,2"))).isTrue();
    assertThat(gpus.cards())
        .extracting(GpuInventory.Card::cause)
        .containsExactly("", "XID 79", "excluded by configuration");
    assertThat(gpus.published().devices()).extracting(GpuDevice::number).containsOnly(4);
    assertThat(gpus.published().devices()).extracting(GpuDevice::memory).containsOnly(81920L);
    assertThat(gpus.reconfigure(new NodeConfig(4, 1, 1, 2), DeviceSelection.NONE)).isTrue();
    assertThat(gpus.cards())
        .extracting(GpuInventory.Card::healthy)
        .as("a failed card is not mended by being included again")
        .containsExactly(true, false, true);
  }
}
