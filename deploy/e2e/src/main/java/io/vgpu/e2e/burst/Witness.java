package io.vgpu.e2e.burst;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.Watch;
import io.fabric8.kubernetes.client.Watcher;
import io.fabric8.kubernetes.client.WatcherException;
import io.vgpu.e2e.burst.Finding.Check;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.LongSupplier;

/**
 * Watches the burst's namespace and tells the {@link PodHistory} every event, in order. It only
 * reads: no informer's cache stands between it and the API server. A watch that ends before {@link
 * #close} is a finding, because events may be missing then.
 */
final class Witness implements Watcher<Pod>, AutoCloseable {
  private final PodHistory history;
  private final LongSupplier elapsedMs;
  private final Watch watch;
  private final List<Finding> faults = new CopyOnWriteArrayList<>();

  Witness(KubernetesClient client, String namespace, PodHistory history, LongSupplier elapsedMs) {
    this.history = history;
    this.elapsedMs = elapsedMs;
    this.watch = client.pods().inNamespace(namespace).watch(this);
  }

  @Override
  public void eventReceived(Action action, Pod pod) {
    switch (action) {
      case ADDED, MODIFIED -> history.accept(PodFact.of(pod), false, elapsedMs.getAsLong());
      case DELETED -> history.accept(PodFact.of(pod), true, elapsedMs.getAsLong());
      case ERROR -> faults.add(Finding.of(Check.RUN, "the watch reported an error: " + pod));
      case BOOKMARK -> {}
    }
  }

  @Override
  public void onClose(WatcherException cause) {
    faults.add(Finding.of(Check.RUN, "the watch on pods ended: " + cause.getMessage()));
  }

  /** What went wrong with the watch itself. */
  List<Finding> faults() {
    return List.copyOf(faults);
  }

  @Override
  public void close() {
    watch.close();
  }
}
