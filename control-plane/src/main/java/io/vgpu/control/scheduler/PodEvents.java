package io.vgpu.control.scheduler;

import io.vgpu.kube.KubeEvents;
import io.vgpu.model.PodRef;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.LongSupplier;

/**
 * The Kubernetes events of the scheduler (control-plane.md 6.2). kube-scheduler asks again and
 * again about a pod that fits nowhere; the same news is told once a minute. Any thread.
 */
final class PodEvents {
  private static final int MOST = 4096;
  private static final long QUIET_NANOS = 60_000_000_000L;

  /** Writes one event and returns at once. */
  @FunctionalInterface
  interface Sink {
    void tell(PodRef pod, KubeEvents.Type type, String reason, String message);
  }

  private record News(String uid, String reason, String message) {}

  private final Sink sink;
  private final LongSupplier nanoTime;
  private final Map<News, Long> told =
      new LinkedHashMap<>(64, 0.75f, true) {
        @Override
        protected boolean removeEldestEntry(Map.Entry<News, Long> eldest) {
          return size() > MOST;
        }
      };

  PodEvents(Sink sink, LongSupplier nanoTime) {
    this.sink = sink;
    this.nanoTime = nanoTime;
  }

  /** Something expected. */
  void normal(PodRef pod, String reason, String message) {
    sink.tell(pod, KubeEvents.Type.NORMAL, reason, message);
  }

  /** Something that the pod's owner should look at. */
  void warning(PodRef pod, String reason, String message) {
    if (isNews(new News(pod.uid(), reason, message))) {
      sink.tell(pod, KubeEvents.Type.WARNING, reason, message);
    }
  }

  private synchronized boolean isNews(News news) {
    long now = nanoTime.getAsLong();
    Long last = told.get(news);
    if (last != null && now - last < QUIET_NANOS) {
      return false;
    }
    told.put(news, now);
    return true;
  }
}
