package io.vgpu.control.cli;

import io.vgpu.claim.Names;
import io.vgpu.control.cli.kube.DecisionReader.Answer;
import io.vgpu.control.cli.kube.PodFacts;
import io.vgpu.control.cli.kube.PodReader;
import io.vgpu.runtime.Logging;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/** {@code vgpu explain pod}: one pod's way, and why it went there. */
@Command(
    name = "explain",
    description = "why something is as it is",
    mixinStandardHelpOptions = true,
    subcommands = {ExplainCommand.PodCommand.class})
final class ExplainCommand implements Runnable {
  static final JsonMapper JSON = JsonMapper.builder().build();
  static final int NOT_FOUND = 1;

  @Spec private CommandSpec spec = CommandSpec.create();

  @Override
  public void run() {
    throw new ParameterException(spec.commandLine(), "what? vgpu explain pod NAMESPACE/POD");
  }

  /** {@code vgpu explain pod NAMESPACE/POD}. */
  @Command(
      name = "pod",
      description =
          "prints one pod's way: what it asks for, its node and claim, our events on it, and from the"
              + " scheduler why this node and these cards",
      mixinStandardHelpOptions = true,
      showDefaultValues = true)
  static final class PodCommand implements Callable<Integer> {
    @Spec private CommandSpec spec = CommandSpec.create();
    @Mixin private PodTarget target = new PodTarget();

    @Override
    public Integer call() {
      Logging.configure(0);
      boolean json = target.json();
      Names names = target.api().names();
      try (PodReader reader =
          new PodReader(target.api().kubeconfig(), target.api().master(), names)) {
        PodTarget.Name pod = target.name(reader);
        Optional<PodFacts> facts = reader.read(pod.namespace(), pod.name());
        if (facts.isEmpty()) {
          spec.commandLine().getErr().println("pod " + pod + ": not found");
          return NOT_FOUND;
        }
        Answer answer = target.ask(reader, pod, facts.get().uid());
        if (json) {
          spec.commandLine().getOut().println(json(facts.get(), names, answer));
        } else {
          PodStory.lines(facts.get(), names).forEach(spec.commandLine().getOut()::println);
          switch (answer) {
            case Answer.Told told -> {
              DecisionStory.decided(JSON.readTree(told.json()))
                  .forEach(spec.commandLine().getOut()::println);
              spec.commandLine().getOut().println("told by    " + told.by());
            }
            case Answer.Nothing nothing ->
                spec.commandLine().getOut().println("decision   none: " + nothing.why());
          }
        }
        return 0;
      }
    }

    private static String json(PodFacts pod, Names names, Answer answer) {
      ObjectNode o = JSON.createObjectNode();
      o.putObject("pod")
          .put("namespace", pod.namespace())
          .put("name", pod.name())
          .put("uid", pod.uid());
      o.put("node", pod.node()).put("phase", pod.phase()).put("scheduler", pod.scheduler());
      o.put("claim", pod.annotations().get(names.preAllocated()));
      var events = o.putArray("events");
      pod.events()
          .forEach(
              e ->
                  events
                      .addObject()
                      .put("at", e.at().toString())
                      .put("source", e.source())
                      .put("reason", e.reason())
                      .put("message", e.message()));
      switch (answer) {
        case Answer.Told told ->
            o.put("toldBy", told.by()).set("decision", JSON.readTree(told.json()));
        case Answer.Nothing nothing -> o.put("noDecision", nothing.why());
      }
      return o.toPrettyString();
    }
  }
}
