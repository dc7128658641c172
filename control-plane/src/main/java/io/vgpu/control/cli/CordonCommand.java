package io.vgpu.control.cli;

import io.vgpu.control.cli.kube.CardReader;
import io.vgpu.model.DeviceCordon.Mode;
import io.vgpu.runtime.Logging;
import java.time.Clock;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code vgpu cordon}: no new pods on these cards; those that are there stay (D17). */
@Command(
    name = "cordon",
    description = {
      "keeps new pods off GPUs of a node; pods that hold them stay. Ends a drain that has begun."
    },
    mixinStandardHelpOptions = true,
    showDefaultValues = true)
final class CordonCommand implements Callable<Integer> {
  @Spec private CommandSpec spec = CommandSpec.create();
  @Mixin private CardTarget target = new CardTarget();

  @Option(names = "--reason", paramLabel = "TEXT", description = "why, for those who ask later")
  private @Nullable String reason;

  @Override
  public Integer call() {
    Logging.configure(0);
    try (CardReader reader = target.open()) {
      target
          .set(reader, Mode.CORDON, reason, Clock.systemUTC())
          .names()
          .values()
          .forEach(card -> spec.commandLine().getOut().println(card + " cordoned"));
      return 0;
    }
  }
}
