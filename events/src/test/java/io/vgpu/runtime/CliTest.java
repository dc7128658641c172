package io.vgpu.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

class CliTest {
  @Command(name = "tool")
  static final class Tool implements Callable<Integer> {
    @Option(names = "--node-name")
    @Nullable String nodeName;

    @Option(names = "--device-split-count", defaultValue = "10")
    int split;

    @Option(names = "--fail")
    boolean fail;

    @Override
    public Integer call() {
      if (fail) {
        throw new UsageException("--fail: value true must not be given");
      }
      return 0;
    }
  }

  private record Outcome(int status, String errors) {}

  private static Outcome run(Object tool, String... args) {
    PrintStream before = System.err;
    ByteArrayOutputStream errors = new ByteArrayOutputStream();
    System.setErr(new PrintStream(errors, true, StandardCharsets.UTF_8));
    try {
      return new Outcome(Cli.run(tool, args), errors.toString(StandardCharsets.UTF_8));
    } finally {
      System.setErr(before);
    }
  }

  @Test
  void anUnknownFlagIsFatalAndNamesTheNearest() {
    Outcome o = run(new Tool(), "--device-spilt-count=3");
    assertThat(o.status()).isEqualTo(Cli.USAGE);
    assertThat(o.errors())
        .contains("tool: unknown flag: --device-spilt-count (nearest known: --device-split-count)");
  }

  @Test
  void aFlagWithoutItsValueIsFatal() {
    Outcome o = run(new Tool(), "--node-name");
    assertThat(o.status()).isEqualTo(Cli.USAGE);
    assertThat(o.errors()).contains("--node-name");
  }

  @Test
  void aValueOfTheWrongKindNamesFlagAndValue() {
    Outcome o = run(new Tool(), "--device-split-count=ten");
    assertThat(o.status()).isEqualTo(Cli.USAGE);
    assertThat(o.errors()).contains("--device-split-count").contains("ten");
  }

  @Test
  void aUsageExceptionIsOneLineAndStatusTwo() {
    Outcome o = run(new Tool(), "--fail");
    assertThat(o.status()).isEqualTo(Cli.USAGE);
    assertThat(o.errors().strip()).isEqualTo("tool: --fail: value true must not be given");
  }

  @Test
  void aDocumentedVariableIsADefaultAndAFlagWins() {
    Tool tool = new Tool();
    var line = new picocli.CommandLine(tool);
    line.setDefaultValueProvider(
        new EnvDefaults(name -> name.equals("NODE_NAME") ? "from-env" : null));
    line.parseArgs();
    assertThat(tool.nodeName).isEqualTo("from-env");
    line.parseArgs("--node-name=from-flag");
    assertThat(tool.nodeName).isEqualTo("from-flag");
  }
}
