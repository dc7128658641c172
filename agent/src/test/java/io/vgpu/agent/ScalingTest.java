package io.vgpu.agent;

import static org.assertj.core.api.Assertions.assertThat;

import io.vgpu.agent.config.AgentConfig;
import io.vgpu.agent.gpu.FakeCards;
import io.vgpu.agent.gpu.NodeGpus;
import io.vgpu.agent.shim.DeviceLimits;
import io.vgpu.agent.shim.DeviceLimits.Flag;
import io.vgpu.agent.shim.LimitsRule;
import io.vgpu.claim.InventoryCodec;
import io.vgpu.model.ComputePolicy;
import io.vgpu.model.ContainerClaim;
import io.vgpu.model.CorePercent;
import io.vgpu.model.DeviceClaim;
import io.vgpu.model.GpuDevice;
import io.vgpu.model.MemoryMiB;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** How a node divides its cards, from the flags to what is published and what containers get. */
class ScalingTest {
  @Test
  void flagsReachTheAnnotationsAndTheLimits() {
    CommonFlags common = new CommonFlags();
    common.nodeName = "n1";
    PluginFlags plugin = new PluginFlags();
    plugin.deviceSplitCount = 4;
    plugin.deviceCoresScaling = 0.9;
    plugin.deviceMemoryScaling = 1.5;
    plugin.deviceMemoryFactor = 256;
    AgentConfig.Cards cards = ConfigReader.read(common, plugin, new MonitorFlags()).cards();
    NodeGpus gpus =
        new NodeGpus(
            List.of(FakeCards.card(0, 132, false)),
            cards.division(),
            Optional.empty(),
            cards.excluded());

    assertThat(InventoryCodec.encodeConfig(gpus.published().config()))
        .isEqualTo(
            "{\"deviceSplit\":4,\"coresScaling\":0.9,\"memoryFactor\":256,\"memoryScaling\":1.5}");
    GpuDevice published = gpus.published().devices().getFirst();
    assertThat(published.core()).isEqualTo(90);
    assertThat(published.memory()).isEqualTo(215_656);
    assertThat(published.number()).isEqualTo(4);

    DeviceLimits limits =
        LimitsRule.of(
                new ContainerClaim(
                    "main",
                    List.of(
                        new DeviceClaim(
                            0, FakeCards.uuid(0), new CorePercent(90), new MemoryMiB(3072)))),
                gpus,
                ComputePolicy.FIXED,
                Set.of())
            .getFirst();
    assertThat(limits.flags())
        .containsExactlyInAnyOrder(Flag.MEMORY_LIMIT, Flag.COMPUTE_LIMIT, Flag.OVERSUBSCRIBE);
    assertThat(limits.memLimit()).isEqualTo(3L << 30);
    assertThat(limits.memPhysical()).isEqualTo(2L << 30);
    assertThat(limits.coreHardPermille()).as("percent of the real card").isEqualTo(900);
  }
}
