package io.vgpu.control.cli;

import io.vgpu.runtime.Cli;
import io.vgpu.runtime.Version;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/**
 * {@code vgpu}, the users' command; kubectl runs it as {@code kubectl vgpu}. Reads only, but for
 * the operator's words about cards.
 */
@Command(
    name = "vgpu",
    description = {
      "What became of a pod's vGPUs, how a cluster would be packed, and which GPUs new pods are kept",
      "off or are to be left."
    },
    mixinStandardHelpOptions = true,
    versionProvider = Version.class,
    subcommands = {
      VgpuMain.VersionCommand.class,
      ExplainCommand.class,
      WhyPendingCommand.class,
      CordonCommand.class,
      UncordonCommand.class,
      DrainCommand.class,
      SimulateCommand.class
    })
public final class VgpuMain implements Runnable {
  @Spec private CommandSpec spec;

  VgpuMain(CommandSpec spec) {
    this.spec = spec;
  }

  public static void main(String[] args) {
    System.exit(Cli.run(new VgpuMain(CommandSpec.create()), args));
  }

  @Override
  public void run() {
    throw new ParameterException(
        spec.commandLine(),
        "a sub-command is needed: " + String.join(", ", spec.subcommands().keySet()));
  }

  /** {@code vgpu version}. */
  @Command(name = "version", description = "prints the version", mixinStandardHelpOptions = true)
  static final class VersionCommand implements Runnable {
    @Spec private CommandSpec spec;

    VersionCommand() {
      this.spec = CommandSpec.create();
    }

    @Override
    public void run() {
      spec.commandLine().getOut().println("vgpu " + Version.current());
    }
  }
}
