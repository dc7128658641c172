package io.vgpu.control.cli;

import io.vgpu.control.ApiFlags;
import io.vgpu.control.cli.kube.DecisionReader;
import io.vgpu.control.cli.kube.PodReader;
import io.vgpu.runtime.UsageException;
import java.net.URI;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Which pod, where the scheduler is asked, and how the answer is printed. */
final class PodTarget {
  @Mixin private ApiFlags api = new ApiFlags();

  @Parameters(index = "0", paramLabel = "[NAMESPACE/]POD", description = "the pod")
  private String pod = "";

  @Option(
      names = {"-n", "--namespace"},
      description =
          "the pod's namespace, where it is not said with its name; none: the kubeconfig's")
  private @Nullable String namespace;

  @Option(
      names = "--scheduler-namespace",
      defaultValue = "kube-system",
      description =
          "where the pods vgpu-manager-scheduler-* and vgpu-manager-controller-* are; asked through"
              + " the API server")
  private String schedulerNamespace = "kube-system";

  @Option(
      names = "--scheduler-url",
      paramLabel = "URL",
      description = "health port of an extender to ask instead, e.g. http://127.0.0.1:3457")
  private @Nullable URI schedulerUrl;

  @Option(
      names = "--controller-url",
      paramLabel = "URL",
      description = "health port of a controller to ask instead, e.g. http://127.0.0.1:3460")
  private @Nullable URI controllerUrl;

  @Option(
      names = {"-o", "--output"},
      paramLabel = "FORMAT",
      defaultValue = "table",
      description = "table or json")
  private String output = "table";

  /** A pod by namespace and name. */
  record Name(String namespace, String name) {
    @Override
    public String toString() {
      return namespace + "/" + name;
    }
  }

  ApiFlags api() {
    return api;
  }

  /** Whether JSON is wanted; throws {@link UsageException} for a format that nobody knows. */
  boolean json() {
    return switch (output) {
      case "table" -> false;
      case "json" -> true;
      default -> throw new UsageException("--output \"" + output + "\": must be table or json");
    };
  }

  /** The pod, under the reader's default namespace where none is said. */
  Name name(PodReader reader) {
    String[] parts = pod.split("/", -1);
    if (parts.length > 2 || parts[parts.length - 1].isEmpty() || parts[0].isEmpty()) {
      throw new UsageException("pod \"" + pod + "\": must be NAME or NAMESPACE/NAME");
    }
    if (parts.length == 2) {
      return new Name(parts[0], parts[1]);
    }
    return new Name(namespace == null ? reader.defaultNamespace() : namespace, parts[0]);
  }

  /** Asks those who are meant; {@code uid} as far as it is known. */
  DecisionReader.Answer ask(PodReader reader, Name pod, String uid) {
    DecisionReader decisions = reader.decisions(pod.namespace(), pod.name(), uid);
    URI scheduler = schedulerUrl;
    URI controller = controllerUrl;
    if (scheduler == null && controller == null) {
      return decisions
          .throughApi(schedulerNamespace, DecisionReader.Part.SCHEDULER)
          .throughApi(schedulerNamespace, DecisionReader.Part.CONTROLLER)
          .answer();
    }
    if (scheduler != null) {
      decisions.direct(scheduler);
    }
    if (controller != null) {
      decisions.direct(controller);
    }
    return decisions.answer();
  }
}
