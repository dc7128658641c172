package io.vgpu.agent.kube;

import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * This node's pods as the API server tells them, also those that ask for no vGPU: a name that is
 * not here is one that the watch has not heard of. Reads are of memory, any thread, except {@link
 * #fetch}.
 */
public interface NodePods {
  /** Whether the first list is in. */
  boolean synced();

  /** Every pod that exists. */
  List<NodePod> live();

  /** A pod that exists, by UID. */
  Optional<NodePod> live(String uid);

  /**
   * Every pod known under a name: the one that exists, then deleted ones, the last deleted first.
   * The kubelet runs behind the API and admits pods that are gone (identity-facts.md 1, rule 1).
   */
  List<NodePod> named(String namespace, String name);

  /**
   * Asks the API server for one pod, because the watch may be late; blocks up to {@code deadline}.
   * Empty when there is none, it is another node's, or no answer came.
   */
  Optional<NodePod> fetch(String namespace, String name, Duration deadline);
}
