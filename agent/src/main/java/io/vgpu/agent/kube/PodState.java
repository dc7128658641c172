package io.vgpu.agent.kube;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * What a pod's status says of its running, whoever told it.
 *
 * @param restartPolicy of the spec
 * @param phase of the status
 * @param sandboxGone the condition {@code PodReadyToStartContainers} is there, and false
 * @param containers init and app containers
 */
record PodState(
    String restartPolicy, String phase, boolean sandboxGone, List<ContainerState> containers) {
  static final String SANDBOX_CONDITION = "PodReadyToStartContainers";

  /** One container: its id with the runtime's name before it, empty while there is none. */
  record ContainerState(String name, String id, boolean running) {}

  PodState {
    containers = containers.stream().filter(c -> !c.name().isEmpty()).toList();
  }

  /** Ids, without the runtime's name, of those that have one, by name. */
  Map<String, String> ids() {
    Map<String, String> ids = new LinkedHashMap<>();
    for (ContainerState c : containers) {
      if (!c.id().isEmpty()) {
        ids.put(
            c.name(), c.id().substring(c.id().indexOf("://") < 0 ? 0 : c.id().indexOf("://") + 3));
      }
    }
    return ids;
  }

  Set<String> running() {
    return containers.stream()
        .filter(ContainerState::running)
        .map(ContainerState::name)
        .collect(Collectors.toUnmodifiableSet());
  }

  /** See {@link NodePod#stranded}. */
  boolean stranded() {
    return restartPolicy.equals("Never")
        && phase.equals("Pending")
        && sandboxGone
        && !ids().isEmpty()
        && running().isEmpty();
  }
}
