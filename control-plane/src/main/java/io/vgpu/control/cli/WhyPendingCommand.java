package io.vgpu.control.cli;

import io.vgpu.control.cli.kube.DecisionReader.Answer;
import io.vgpu.control.cli.kube.PodReader;
import io.vgpu.runtime.Logging;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;
import tools.jackson.databind.JsonNode;

/** {@code vgpu why-pending}: what keeps a pod waiting, and what would end that. */
@Command(
    name = "why-pending",
    description =
        "prints why no node takes a pod, node by node as it is now, and with which smaller request"
            + " each would",
    mixinStandardHelpOptions = true,
    showDefaultValues = true)
final class WhyPendingCommand implements Callable<Integer> {
  @Spec private CommandSpec spec = CommandSpec.create();
  @Mixin private PodTarget target = new PodTarget();

  @Override
  public Integer call() {
    Logging.configure(0);
    boolean json = target.json();
    try (PodReader reader =
        new PodReader(target.api().kubeconfig(), target.api().master(), target.api().names())) {
      PodTarget.Name pod = target.name(reader);
      return switch (target.ask(reader, pod, "")) {
        case Answer.Told told -> {
          JsonNode decision = ExplainCommand.JSON.readTree(told.json());
          if (json) {
            spec.commandLine().getOut().println(decision.toPrettyString());
          } else {
            DecisionStory.waits(decision).forEach(spec.commandLine().getOut()::println);
          }
          yield 0;
        }
        case Answer.Nothing nothing -> {
          spec.commandLine().getErr().println("pod " + pod + ": " + nothing.why());
          yield ExplainCommand.NOT_FOUND;
        }
      };
    }
  }
}
