package io.vgpu.control;

import io.vgpu.testing.FlagTable;
import io.vgpu.testing.GeneratedDoc;
import org.junit.jupiter.api.Test;
import picocli.CommandLine.Model.CommandSpec;

class FlagsDocTest {
  @Test
  void thePageOfFlagsFollowsTheCommands() {
    GeneratedDoc.check(
        "configuration-control-plane.md",
        FlagTable.of("Flags of vgpu-control-plane", new ControlPlaneMain(CommandSpec.create())));
  }
}
