package io.vgpu.agent.gpu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.vgpu.agent.testing.FakeGpuDriver;
import io.vgpu.model.GpuDevice;
import io.vgpu.model.GpuUuid;
import io.vgpu.model.NodeConfig;
import io.vgpu.runtime.UsageException;
import java.util.List;
import java.util.Optional;
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
  void whatOnlyLooksLikeARangeIsRefused() {
    assertThatThrownBy(() -> DeviceSelection.parse("0-1"))
        .isInstanceOf(UsageException.class)
        .hasMessageContaining("\"0-1\"")
        .hasMessageContaining("a..b");
    assertThatThrownBy(() -> DeviceSelection.parse("1..x")).isInstanceOf(UsageException.class);
  }
}
