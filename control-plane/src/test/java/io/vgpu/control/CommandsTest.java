package io.vgpu.control;

import static org.assertj.core.api.Assertions.assertThat;

import io.vgpu.runtime.Cli;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine.Model.CommandSpec;

/** What the command line refuses, and in which words. */
class CommandsTest {
  @ParameterizedTest(name = "{0}")
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          webhook --default-node-polcy=x               | unknown flag: --default-node-polcy (nearest known: --default-node-policy)
          webhook --default-node-policy=none           | --default-node-policy "none": must be one of binpack, spread, fgd, foresight
          webhook --default-topology-mode=pcie         | --default-topology-mode "pcie": must be one of numa, numa-strict, link, link-strict
          webhook --domain=Bad_Domain                  | domain "Bad_Domain": must be a DNS subdomain
          webhook --cert-dir=/nonexistent --ops-bind-port=0 | TLS certificate /nonexistent/tls.crt: cannot be read
          controller --leader-elect-lease-duration=5s  | each must be below the next
          controller --scheduler-urls=10.0.0.1         | --scheduler-urls "10.0.0.1": must be http://HOST:PORT
          controller --kubeconfig=/nonexistent         | --kubeconfig /nonexistent: cannot be read
          contoller                                    | contoller
          """)
  void refusesWithTheNameOfWhatIsWrong(String line, String message) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    PrintStream before = System.err;
    int status;
    try (PrintStream err = new PrintStream(bytes, true, StandardCharsets.UTF_8)) {
      System.setErr(err);
      status = Cli.run(new ControlPlaneMain(CommandSpec.create()), line.split(" "));
    } finally {
      System.setErr(before);
    }
    assertThat(bytes.toString(StandardCharsets.UTF_8)).contains(message);
    assertThat(status).isEqualTo(Cli.USAGE);
  }
}
