package io.vgpu.agent.shim;

import static org.assertj.core.api.Assertions.assertThat;

import io.vgpu.agent.shim.ShimWriter.Owner;
import io.vgpu.agent.testing.Built;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the agent writes, the C side reads: the same header, one language on each side. */
class ShimInspectTest {
  private static final Owner OWNER = new Owner("11111111-2222-3333-4444-555555555555", "main");

  @TempDir Path root;

  private String inspect(Path file) throws IOException, InterruptedException {
    Process process =
        new ProcessBuilder(Built.shim("shim-inspect").toString(), file.toString())
            .redirectErrorStream(true)
            .start();
    String out = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor()).describedAs(out).isZero();
    return out;
  }

  @Test
  void everyRegionOfAContainerIsReadByTheInspector() throws Exception {
    ShimPaths paths =
        new ShimPaths(
            Files.createDirectory(root.resolve("M")),
            Path.of("/host"),
            Files.createDirectory(root.resolve("T")));
    new RegionFiles(paths, BootId.current(), r -> {})
        .make(OWNER, LimitsRuleTest.twoCards(), 1_700_000_000_000_000_000L);

    String limits = inspect(paths.config(OWNER).resolve("limits"));
    assertThat(limits).contains("GPU-a", "GPU-b", "2147483648", "1073741824", "250", "1000");
    assertThat(inspect(paths.config(OWNER).resolve("load"))).contains("load");
    assertThat(inspect(paths.usage(OWNER).resolve("usage"))).contains("usage");
  }
}
