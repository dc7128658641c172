package io.vgpu.control.scheduler;

import io.vgpu.control.cluster.PodRequest;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/**
 * The pods that kube-scheduler asked about last, so that bind needs no request to know one, and
 * takes the resourceVersion that was planned for (identity-facts.md 4). At most {@link #MOST}, the
 * least recently used go first. Any thread.
 */
final class PendingPods {
  static final int MOST = 4096;

  /**
   * @param ranking in words: how many nodes fitted, and how prioritize ranked them
   */
  record Pending(PodRequest request, String ranking) {}

  private final Map<String, Pending> byUid =
      new LinkedHashMap<>(64, 0.75f, true) {
        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Pending> eldest) {
          return size() > MOST;
        }
      };

  /** Filter was asked about the pod. */
  synchronized void asked(PodRequest request, String why) {
    byUid.put(request.pod().uid(), new Pending(request, why));
  }

  /** Prioritize has ranked nodes for it. */
  synchronized void ranked(PodRequest request, String ranking) {
    byUid.put(request.pod().uid(), new Pending(request, ranking));
  }

  /** The pod as it was last asked about. */
  synchronized Optional<Pending> get(String uid) {
    return Optional.ofNullable(byUid.get(uid));
  }

  /** It is bound or gone. */
  synchronized void forget(String uid) {
    byUid.remove(uid);
  }
}
