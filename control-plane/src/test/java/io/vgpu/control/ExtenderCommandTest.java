package io.vgpu.control;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.vgpu.control.scheduler.ExtenderConfig;
import io.vgpu.control.scheduler.ExtenderGate;
import io.vgpu.runtime.Cli;
import io.vgpu.runtime.Durations;
import io.vgpu.runtime.UsageException;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import picocli.CommandLine;

/** The flags of control-plane.md 1.2: what cannot be used ends the process and says which rule. */
class ExtenderCommandTest {
  @TempDir Path folder;

  private static ExtenderCommand parsed(String... flags) {
    ExtenderCommand command = new ExtenderCommand();
    List<String> all = new ArrayList<>(List.of(flags));
    all.add("--claim-key-file=key");
    CommandLine line = new CommandLine(command);
    line.registerConverter(Duration.class, Durations::parse);
    line.parseArgs(all.toArray(new String[0]));
    return command;
  }

  @Test
  void defaultsAreTheDocumentedOnes() {
    ExtenderConfig config = parsed().config();
    assertThat(config.server().address()).isEqualTo("127.0.0.1");
    assertThat(config.server().port()).isEqualTo(3456);
    assertThat(config.server().opsPort()).isEqualTo(3457);
    assertThat(config.api().qps()).isEqualTo(200);
    assertThat(config.api().burst()).isEqualTo(400);
    assertThat(config.names().domain()).isEqualTo("nvidia.com");
    assertThat(config.coreHeadroom()).isZero();
    assertThat(config.gates().on(ExtenderGate.SERIALIZED_NODE_FILTER)).isTrue();
    assertThat(config.gates().on(ExtenderGate.SERIALIZED_NODE_BIND)).isTrue();
    assertThat(config.gates().on(ExtenderGate.TOPOLOGY_AWARE_GPU_ALLOCATION)).isFalse();
  }

  static Stream<Arguments> unusable() {
    return Stream.of(
        Arguments.of("--feature-gates=Nope=true", "unrecognized feature gate: Nope"),
        Arguments.of("--feature-gates=SerialBindNode=true", "nearest known: SerializedNodeBind"),
        Arguments.of("--bind-address=0.0.0.0", "needs --enable-tls and --client-ca-file"),
        Arguments.of("--enable-tls", "needs --tls-cert-file and --tls-key-file"),
        Arguments.of("--client-ca-file=ca", "only with --enable-tls"),
        Arguments.of("--core-headroom=100", "must be 0 to 99"),
        Arguments.of("--server-bind-port=70000", "--server-bind-port 70000"),
        Arguments.of("--ops-bind-port=3456", "must differ"),
        Arguments.of("--stuck-grace-period=500ms", "must be at least 1s"),
        Arguments.of("--leader-elect=true", "flag of controller"),
        Arguments.of("--watch-lease=true", "no role label"),
        Arguments.of("--pprof-bind-port=1", "must be 0"),
        Arguments.of("--domain=", "--domain"),
        Arguments.of("--kube-api-qps=0", "--kube-api-qps 0"));
  }

  @ParameterizedTest
  @MethodSource("unusable")
  void refusesWhatCannotBeUsed(String flag, String rule) {
    assertThatThrownBy(() -> parsed(flag).config())
        .isInstanceOf(UsageException.class)
        .hasMessageContaining(rule);
  }

  @Test
  void aKeyFileThatCannotBeUsedEndsTheProcess() throws Exception {
    Path shortKey = folder.resolve("key");
    Files.writeString(shortKey, "short\n");
    assertThat(run("--claim-key-file=" + folder.resolve("none"))).contains("2 ", "cannot be read");
    assertThat(run("--claim-key-file=" + shortKey)).contains("2 ", "at least 16 are needed");
    assertThat(run("--claim-key-fiel=x")).contains("2 ", "--claim-key-file");
  }

  private static String run(String flag) {
    PrintStream err = System.err;
    ByteArrayOutputStream said = new ByteArrayOutputStream();
    System.setErr(new PrintStream(said, true, StandardCharsets.UTF_8));
    try {
      return Cli.run(new ExtenderCommand(), flag) + " " + said.toString(StandardCharsets.UTF_8);
    } finally {
      System.setErr(err);
    }
  }
}
