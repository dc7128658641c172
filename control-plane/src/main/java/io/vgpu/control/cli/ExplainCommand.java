package io.vgpu.control.cli;

import io.vgpu.claim.Names;
import io.vgpu.control.ApiFlags;
import io.vgpu.control.cli.kube.PodFacts;
import io.vgpu.control.cli.kube.PodReader;
import io.vgpu.runtime.Logging;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code vgpu explain POD}: one pod's way, from what the API server says of it. */
@Command(
    name = "explain",
    description = "prints one pod's way: what it asks for, its node, its claim, our events on it",
    mixinStandardHelpOptions = true,
    showDefaultValues = true)
final class ExplainCommand implements Callable<Integer> {
  private static final int NOT_FOUND = 1;

  @Spec private CommandSpec spec = CommandSpec.create();
  @Mixin private ApiFlags api = new ApiFlags();

  @Parameters(index = "0", paramLabel = "POD", description = "the pod's name")
  private String pod = "";

  @Option(
      names = {"-n", "--namespace"},
      description = "the pod's namespace; none: the kubeconfig's")
  private @Nullable String namespace;

  @Override
  public Integer call() {
    Logging.configure(0);
    Names names = api.names();
    try (PodReader reader = new PodReader(api.kubeconfig(), api.master(), names)) {
      String where = namespace == null ? reader.defaultNamespace() : namespace;
      Optional<PodFacts> facts = reader.read(where, pod);
      if (facts.isEmpty()) {
        spec.commandLine().getErr().println("pod " + where + "/" + pod + ": not found");
        return NOT_FOUND;
      }
      PodStory.lines(facts.get(), names).forEach(spec.commandLine().getOut()::println);
      return 0;
    }
  }
}
