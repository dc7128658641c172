package io.vgpu.agent;

import io.vgpu.agent.deviceplugin.ResponseFilter;
import io.vgpu.testing.FlagTable;
import io.vgpu.testing.GeneratedDoc;
import org.junit.jupiter.api.Test;

class FlagsDocTest {
  @Test
  void thePageOfFlagsFollowsTheCommands() {
    GeneratedDoc.check(
        "configuration-agent.md",
        FlagTable.of("Flags of vgpu-agent", new AgentMain.Root(ResponseFilter.IDENTITY).spec()));
  }
}
