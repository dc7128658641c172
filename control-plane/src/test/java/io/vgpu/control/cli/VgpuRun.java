package io.vgpu.control.cli;

import io.vgpu.runtime.Cli;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import picocli.CommandLine.Model.CommandSpec;

/** One call of {@code vgpu}, as a user's shell sees it. */
public record VgpuRun(int status, String out, String err) {
  /** Runs it in this JVM. */
  public static VgpuRun of(String... args) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    ByteArrayOutputStream err = new ByteArrayOutputStream();
    PrintStream outBefore = System.out;
    PrintStream errBefore = System.err;
    int status;
    try (PrintStream o = new PrintStream(out, true, StandardCharsets.UTF_8);
        PrintStream e = new PrintStream(err, true, StandardCharsets.UTF_8)) {
      System.setOut(o);
      System.setErr(e);
      status = Cli.run(new VgpuMain(CommandSpec.create()), args);
    } finally {
      System.setOut(outBefore);
      System.setErr(errBefore);
    }
    return new VgpuRun(
        status, out.toString(StandardCharsets.UTF_8), err.toString(StandardCharsets.UTF_8));
  }
}
