package io.vgpu.control;

import io.vgpu.runtime.Cli;
import io.vgpu.runtime.Version;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code vgpu-control-plane}: one program, three deployments (D12). */
@Command(
    name = "vgpu-control-plane",
    description = "The control plane: one sub-command per deployment.",
    mixinStandardHelpOptions = true,
    versionProvider = Version.class,
    subcommands = {ExtenderCommand.class, WebhookCommand.class, ControllerCommand.class})
public final class ControlPlaneMain implements Runnable {
  @Spec private CommandSpec spec;

  ControlPlaneMain(CommandSpec spec) {
    this.spec = spec;
  }

  public static void main(String[] args) {
    System.exit(Cli.run(new ControlPlaneMain(CommandSpec.create()), args));
  }

  @Override
  public void run() {
    throw new ParameterException(
        spec.commandLine(),
        "a sub-command is needed: " + String.join(", ", spec.subcommands().keySet()));
  }
}
