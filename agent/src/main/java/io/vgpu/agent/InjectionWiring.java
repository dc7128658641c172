package io.vgpu.agent;

import io.vgpu.agent.config.AgentConfig;
import io.vgpu.agent.deviceplugin.Injection;
import io.vgpu.agent.gpu.GpuInventory;
import io.vgpu.agent.inject.CdiSpecs;
import io.vgpu.agent.inject.DeviceNodes;
import io.vgpu.agent.inject.ImexChannels;
import io.vgpu.agent.inject.ListStrategy;
import io.vgpu.agent.inject.MigMinors;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.UUID;

/** How cards come into containers, made ready: looked for, and written where runtimes read. */
final class InjectionWiring {
  private InjectionWiring() {}

  /** Blocks for moments; what is required and missing ends the start with a reason. */
  static Injection prepare(AgentConfig config, GpuInventory inventory) throws IOException {
    AgentConfig.Injected injected = config.injected();
    AgentConfig.Cards cards = config.cards();
    DeviceNodes nodes =
        new DeviceNodes(
            cards.hostDriverRoot(),
            Files::exists,
            MigMinors.read(cards.containerDriverRoot(), config.shim().procRoot()));
    ImexChannels imex =
        ImexChannels.find(injected.imex().channelIds(), injected.imex().required(), nodes);
    Set<String> classes = Set.of();
    if (ListStrategy.anyCdi(injected.strategies())) {
      Path tools = Path.of("tools");
      CdiSpecs specs =
          new CdiSpecs(
              new CdiSpecs.Places(
                  injected.cdiRoot(),
                  cards.containerDriverRoot(),
                  cards.hostDriverRoot(),
                  config.shim().paths().managerDir().resolve(tools),
                  config.shim().paths().hostManagerDir().resolve(tools)),
              nodes);
      classes =
          specs.write(
              inventory.cards().stream().map(GpuInventory.Card::gpu).toList(),
              cards.mig().servesSlices(),
              imex,
              injected.extras(),
              ListStrategy.onlyCdi(injected.strategies()));
    }
    return new Injection(
        new Injection.Setup(
            injected.strategies(),
            nodes,
            imex,
            injected.extras(),
            classes,
            injected.annotationPrefix(),
            UUID::randomUUID));
  }
}
