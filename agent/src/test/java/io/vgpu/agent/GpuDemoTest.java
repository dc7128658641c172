package io.vgpu.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.vgpu.agent.testing.Built;
import java.io.IOException;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * {@code make demo-gpu} and the like, on the fake libraries: the agent as a process, and what runs
 * under it.
 */
class GpuDemoTest {
  private static final int CANNOT_MOUNT = 77;

  @TempDir Path dir;

  @Test
  void aPodOfTheAgentGetsItsMemoryAndItsShareOfTheCard() throws Exception {
    assertThat(run("demo_gpu.py"))
        .contains("ok     memory: total 1024 MiB, refused beyond")
        .contains("ok     what a context takes is measured: 300 MiB")
        .contains("ok     cores: share 10 +- 1 %")
        .endsWith("demo-gpu: PASS\n");
  }

  @Test
  void onAPartitionedCardItIsAClientAndNeverHasMoreThanItsShare() throws Exception {
    assertThat(run("demo_mps.py"))
        .contains("ok     it has at most 10 % of the multiprocessors: 12 of 132")
        .contains("ok     without the variable its share is kept by time")
        .contains("ok     the agent ends its daemons: []")
        .contains("ok     without a daemon too")
        .endsWith("demo-mps: PASS\n");
  }

  private String run(String script) throws Exception {
    Path said = dir.resolve("said");
    Process demo =
        new ProcessBuilder(
                "python3",
                Built.profile("../gpu/" + script).toString(),
                "--fake",
                Built.profile("8xH200.gpus").toString(),
                "--binaries",
                Built.shim("").toString(),
                "--classpath",
                System.getProperty("java.class.path"),
                "--port",
                Integer.toString(freePort()),
                "--out",
                dir.resolve("demo.json").toString())
            .redirectErrorStream(true)
            .redirectOutput(said.toFile())
            .start();
    try {
      assertThat(demo.waitFor(240, TimeUnit.SECONDS)).isTrue();
    } finally {
      demo.destroy();
    }
    String output = Files.readString(said, StandardCharsets.UTF_8);
    assumeThat(demo.exitValue()).as(output).isNotEqualTo(CANNOT_MOUNT);
    assertThat(demo.exitValue()).as(output).isZero();
    return output;
  }

  private static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0)) {
      return socket.getLocalPort();
    }
  }
}
