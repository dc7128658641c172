package io.vgpu.agent.deviceplugin;

import io.vgpu.agent.kube.NodePod;
import io.vgpu.model.Reason;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/**
 * Pods that a kubelet leaves Pending for ever: their sandbox was taken down before all containers
 * had started, as by a kubelet that restarts and cannot admit them at once, and a pod with restart
 * policy Never gets no other once a container was made. Such a pod holds its devices and never
 * ends, so it is handed to the rescheduler. One thread.
 */
final class Stranded {
  /** Ten times what a kubelet takes to make a sandbox and start what is in it. */
  static final Duration PATIENCE = Duration.ofSeconds(20);

  /** Marks a pod and tells of it; false when that was done before or has to be tried again. */
  interface Marker {
    boolean unseen(NodePod pod, Reason reason, String detail);
  }

  private final Marker failure;
  private final Map<String, Long> since = new HashMap<>();

  Stranded(Marker failure) {
    this.failure = failure;
  }

  /** One look at the pods of a view; {@code isOurs}: whether a UID holds devices of ours. */
  void report(PodView view, Predicate<String> isOurs, long nanoTime) {
    Set<NodePod> stranded =
        view.pods().stream()
            .filter(p -> p.stranded() && !p.deleting() && isOurs.test(p.ref().uid()))
            .collect(Collectors.toSet());
    since.keySet().retainAll(stranded.stream().map(p -> p.ref().uid()).collect(Collectors.toSet()));
    for (NodePod pod : stranded) {
      long first = since.computeIfAbsent(pod.ref().uid(), uid -> nanoTime);
      if (nanoTime - first >= PATIENCE.toNanos()) {
        boolean unused =
            failure.unseen(pod, Reason.NEVER_STARTS, "for " + PATIENCE.toSeconds() + " s");
      }
    }
  }
}
