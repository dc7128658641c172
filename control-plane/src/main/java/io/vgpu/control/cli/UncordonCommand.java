package io.vgpu.control.cli;

import io.vgpu.control.cli.kube.CardReader;
import io.vgpu.runtime.Logging;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code vgpu uncordon}: takes back a cordon or a drain. */
@Command(
    name = "uncordon",
    description = "lets new pods on GPUs of a node again, and ends their drain",
    mixinStandardHelpOptions = true)
final class UncordonCommand implements Callable<Integer> {
  @Spec private CommandSpec spec = CommandSpec.create();
  @Mixin private CardTarget target = new CardTarget();

  @Override
  public Integer call() {
    Logging.configure(0);
    try (CardReader reader = target.open()) {
      Map<?, String> cleared = target.clear(reader).names();
      cleared.values().forEach(card -> spec.commandLine().getOut().println(card + " uncordoned"));
      if (cleared.isEmpty()) {
        spec.commandLine().getOut().println("nothing of this was cordoned");
      }
      return 0;
    }
  }
}
