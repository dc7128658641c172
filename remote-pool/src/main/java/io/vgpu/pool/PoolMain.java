package io.vgpu.pool;

import io.vgpu.runtime.Cli;
import io.vgpu.runtime.Version;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code vgpu-remote-agent}: knows its name and version; its roles come with the remote pool. */
@Command(
    name = "vgpu-remote-agent",
    description = "Broker for GPUs over the network. This release serves no role yet.",
    mixinStandardHelpOptions = true,
    versionProvider = Version.class)
public final class PoolMain implements Runnable {
  @Spec private CommandSpec spec;

  PoolMain(CommandSpec spec) {
    this.spec = spec;
  }

  public static void main(String[] args) {
    System.exit(Cli.run(new PoolMain(CommandSpec.create()), args));
  }

  @Override
  public void run() {
    throw new ParameterException(
        spec.commandLine(), "this release has no remote role: nothing to run");
  }
}
