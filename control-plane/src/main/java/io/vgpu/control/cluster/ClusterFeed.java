package io.vgpu.control.cluster;

import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vgpu.kube.SlimWatch;
import io.vgpu.runtime.Lane;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import java.util.function.LongSupplier;

/**
 * Carries what the watches see to the lane that owns {@link ClusterState}: in order, many changes
 * in one turn, readers see each turn at once. When the lane is behind, the watch's own thread waits
 * ({@value #QUEUE} changes), so nothing is lost and nothing grows.
 */
public final class ClusterFeed {
  private static final int QUEUE = 8192;
  private static final int PER_TURN = 1024;
  private static final long AGAIN_MS = 20;

  private final Vertx vertx;
  private final Lane lane;
  private final ClusterState state;
  private final BlockingQueue<Change> queue = new ArrayBlockingQueue<>(QUEUE);
  private final LongSupplier nanoTime;
  private final AtomicLong podsHeard;
  private final AtomicBoolean scheduled = new AtomicBoolean();
  private final Promise<Void> nodesSeen = Promise.promise();
  private final Promise<Void> podsSeen = Promise.promise();

  private sealed interface Change {
    record NodesReplaced(List<NodeRecord> all) implements Change {}

    record NodeChanged(NodeRecord node) implements Change {}

    record NodeGone(String name) implements Change {}

    record PodsReplaced(List<PodRecord> all) implements Change {}

    record PodChanged(PodRecord pod) implements Change {}

    record PodGone(String uid) implements Change {}
  }

  public ClusterFeed(Vertx vertx, Lane lane, ClusterState state, LongSupplier nanoTime) {
    this.vertx = vertx;
    this.lane = lane;
    this.state = state;
    this.nanoTime = nanoTime;
    this.podsHeard = new AtomicLong(nanoTime.getAsLong());
  }

  /** Where the watch of nodes reports to. */
  public SlimWatch.Listener<NodeRecord> nodes() {
    return new Sink<>(
        Change.NodesReplaced::new, Change.NodeChanged::new, n -> new Change.NodeGone(n.name()));
  }

  /** Where the watch of pods reports to. */
  public SlimWatch.Listener<PodRecord> pods() {
    return new Sink<>(
        all -> heard(new Change.PodsReplaced(all)),
        pod -> heard(new Change.PodChanged(pod)),
        pod -> heard(new Change.PodGone(pod.uid())));
  }

  private Change heard(Change ofPods) {
    podsHeard.set(nanoTime.getAsLong());
    return ofPods;
  }

  /** When the watch of pods last said something. Any thread. */
  public long podsHeardNanos() {
    return podsHeard.get();
  }

  /** Completes when the first list of nodes and of pods has reached the readers. */
  public Future<Void> synced() {
    return Future.all(nodesSeen.future(), podsSeen.future()).mapEmpty();
  }

  /** What readers still wait for. */
  public List<String> missing() {
    List<String> missing = new ArrayList<>();
    if (!nodesSeen.future().isComplete()) {
      missing.add("nodes");
    }
    if (!podsSeen.future().isComplete()) {
      missing.add("pods");
    }
    return missing;
  }

  private final class Sink<S> implements SlimWatch.Listener<S> {
    private final Function<List<S>, Change> replaced;
    private final Function<S, Change> changed;
    private final Function<S, Change> gone;

    Sink(
        Function<List<S>, Change> replaced, Function<S, Change> changed, Function<S, Change> gone) {
      this.replaced = replaced;
      this.changed = changed;
      this.gone = gone;
    }

    @Override
    public void replaced(List<S> all) {
      offer(replaced.apply(all));
    }

    @Override
    public void changed(S record) {
      offer(changed.apply(record));
    }

    @Override
    public void gone(S record) {
      offer(gone.apply(record));
    }
  }

  private void offer(Change change) {
    try {
      queue.put(change);
    } catch (InterruptedException e) {
      // only a closing watch is interrupted; it tells nothing more
      Thread.currentThread().interrupt();
      return;
    }
    schedule();
  }

  private void schedule() {
    if (scheduled.compareAndSet(false, true)) {
      lane.call(this::turn)
          .onComplete(
              done -> {
                scheduled.set(false);
                if (done.failed()) {
                  // the lane is full for a moment; what is queued stays queued
                  vertx.setTimer(AGAIN_MS, t -> schedule());
                } else if (!queue.isEmpty()) {
                  schedule();
                }
              });
    }
  }

  private boolean turn() {
    List<Change> changes = new ArrayList<>();
    queue.drainTo(changes, PER_TURN);
    changes.forEach(this::apply);
    state.publish();
    for (Change c : changes) {
      switch (c) {
        case Change.NodesReplaced all -> nodesSeen.tryComplete();
        case Change.PodsReplaced all -> podsSeen.tryComplete();
        case Change.NodeChanged n -> {}
        case Change.NodeGone n -> {}
        case Change.PodChanged p -> {}
        case Change.PodGone p -> {}
      }
    }
    return true;
  }

  private void apply(Change change) {
    switch (change) {
      case Change.NodesReplaced r -> state.replaceNodes(r.all());
      case Change.NodeChanged r -> state.putNode(r.node());
      case Change.NodeGone r -> state.removeNode(r.name());
      case Change.PodsReplaced r -> state.replacePods(r.all());
      case Change.PodChanged r -> state.putPod(r.pod());
      case Change.PodGone r -> state.removePod(r.uid());
    }
  }
}
