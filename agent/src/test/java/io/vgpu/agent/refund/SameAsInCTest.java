package io.vgpu.agent.refund;

import static org.assertj.core.api.Assertions.assertThat;

import io.vgpu.agent.testing.Built;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The agent's ledger, turns and utilisation say byte for byte what those of vgpu-run say. */
class SameAsInCTest {
  private static final int CASES = 3000;

  @TempDir Path dir;

  private byte[] replay(String argument) throws IOException, InterruptedException {
    Path out = dir.resolve("out");
    Process process =
        new ProcessBuilder(Built.shim("refund-replay").toString(), argument)
            .redirectOutput(out.toFile())
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    assertThat(process.waitFor()).isZero();
    return Files.readAllBytes(out);
  }

  @Test
  void thousandsOfRandomScenesGiveTheSameBytes() throws Exception {
    GpuModel model = new GpuModel("x", 2500, 180, 90, 130, 240);
    Scene.Bytes in = new Scene.Bytes();
    Scene.Bytes expected = new Scene.Bytes();
    in.u32(model.turnUs());
    in.u32(model.leaveUs());
    in.u32(model.backUs());
    in.u32(model.sharedLossPermille());
    in.u32(model.switchMaxPermille());
    Random sizes = new Random(4);
    long settled = 0;
    for (int seed = 0; seed < CASES; seed++) {
      settled +=
          new Scene(seed, in, expected, model)
              .play(1 + sizes.nextInt(60), 1 + sizes.nextInt(4), 1 + sizes.nextInt(4));
    }
    in.u32(0);
    Path file = Files.write(dir.resolve("in"), in.array());

    byte[] fromC = replay(file.toString());

    assertThat(settled).as("intervals settled").isGreaterThan(3L * CASES);
    assertThat(fromC).isEqualTo(expected.array());
  }

  @Test
  void theTableOfModelsIsTheSame() throws Exception {
    String rows =
        GpuModel.table().stream()
            .map(
                m ->
                    "%s,%d,%d,%d,%d,%d%n"
                        .formatted(
                            m.name(),
                            m.turnUs(),
                            m.leaveUs(),
                            m.backUs(),
                            m.sharedLossPermille(),
                            m.switchMaxPermille()))
            .collect(Collectors.joining());
    assertThat(new String(replay("--models"), StandardCharsets.UTF_8)).isEqualTo(rows);
  }
}
