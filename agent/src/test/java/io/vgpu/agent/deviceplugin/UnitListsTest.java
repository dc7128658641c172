package io.vgpu.agent.deviceplugin;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.vgpu.model.GpuDevice;
import io.vgpu.model.GpuUuid;
import io.vgpu.model.NodeConfig;
import io.vgpu.runtime.UsageException;
import java.util.List;
import java.util.stream.IntStream;
import k8s.deviceplugin.v1beta1.Device;
import k8s.deviceplugin.v1beta1.ListAndWatchResponse;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class UnitListsTest {
  private static final long GIB80 = 81_559;

  private static GpuDevice card(int id, int core, long memory, boolean mig, boolean healthy) {
    return new GpuDevice(
        id,
        "NVIDIA H100",
        new GpuUuid("GPU-" + id),
        core,
        memory,
        10,
        0,
        mig,
        "0000:3b:00.0",
        9.0f,
        healthy);
  }

  private static List<GpuDevice> eight(boolean healthy) {
    return IntStream.range(0, 8).mapToObj(i -> card(i, 100, GIB80, false, healthy)).toList();
  }

  @Test
  void thereIsOneIdForEachPercentAndEachUnitOfCardsThatAreNotMig() {
    List<GpuDevice> cards =
        List.of(
            card(0, 90, 1000, false, true),
            card(1, 90, 1000, true, true),
            card(2, 90, 1000, false, false));

    ListAndWatchResponse cores = UnitLists.cores(cards);
    assertThat(cores.getDevicesList()).hasSize(180);
    assertThat(cores.getDevicesList()).extracting(Device::getID).doesNotHaveDuplicates();
    assertThat(cores.getDevicesList().stream().filter(d -> d.getHealth().equals("Unhealthy")))
        .hasSize(90);
    assertThat(cores.getDevicesList()).noneMatch(Device::hasTopology);
    // 1000 / 256: what is left of a card is no unit
    assertThat(UnitLists.memory(cards, new NodeConfig(10, 1, 256, 1)).getDevicesList()).hasSize(6);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 3, 7, 256, 100_000})
  void theSizeIsWorkedOutWithoutMakingTheList(int factor) {
    assertThat(UnitLists.bytes(eight(false), factor))
        .isEqualTo(
            UnitLists.memory(eight(false), new NodeConfig(10, 1, factor, 1)).getSerializedSize());
  }

  @Test
  void aListLongerThanTheKubeletTakesIsRefusedAtStart_13_27() {
    assertThatThrownBy(() -> UnitLists.checkMemoryFits(eight(true), new NodeConfig(10, 1, 1, 1)))
        .isInstanceOf(UsageException.class)
        .hasMessageContaining("--device-memory-factor: \"1\"")
        .hasMessageContaining("the kubelet takes at most 4194304")
        .hasMessageContaining("it must be at least 4 on this node");
    assertThatCode(() -> UnitLists.checkMemoryFits(eight(true), new NodeConfig(10, 1, 4, 1)))
        .doesNotThrowAnyException();
    List<GpuDevice> scaled =
        IntStream.range(0, 8).mapToObj(i -> card(i, 100_000, GIB80, false, true)).toList();
    assertThatThrownBy(() -> UnitLists.checkCoresFit(scaled, new NodeConfig(10, 1000, 1, 1)))
        .isInstanceOf(UsageException.class)
        .hasMessageContaining("--device-cores-scaling: \"1000.0\"");
  }

  @Test
  void cardsBeyondWhatAnIdCanNameAreLeftOut() {
    assertThat(UnitLists.cores(List.of(card(256, 100, 10, false, true))).getDevicesList())
        .isEmpty();
  }
}
