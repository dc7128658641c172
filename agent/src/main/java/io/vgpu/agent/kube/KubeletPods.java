package io.vgpu.agent.kube;

import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * The kubelet's own view of its pods ({@code GET /pods}, identity-facts.md 1): the pod being
 * admitted is always in it, with UID and annotations, also when the API has forgotten it. It is
 * heard for who is who; what a pod was given is believed only with its seal.
 */
public interface KubeletPods {
  /** Blocks up to {@code deadline}; empty when the kubelet does not answer, or not with pods. */
  Optional<List<NodePod>> get(Duration deadline);

  /** For nodes whose kubelet may not be asked: the API's view has to do. */
  static KubeletPods none() {
    return deadline -> Optional.empty();
  }
}
