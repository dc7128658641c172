package io.vgpu.control.scheduler;

import io.vgpu.control.cluster.ClusterSnapshot;
import io.vgpu.control.cluster.NodeOffer;
import io.vgpu.control.cluster.NodeView;
import io.vgpu.control.cluster.PodRecord;
import io.vgpu.control.packing.ClusterShape;
import io.vgpu.control.packing.Shape;
import io.vgpu.control.packing.Weight;
import io.vgpu.control.packing.WorkloadHistory;
import io.vgpu.control.packing.WorkloadModel;
import java.time.Clock;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Learns what this cluster's pods are like. Noticing and {@link #notes} belong to lane {@code
 * scheduler}; {@link #build} is slow and runs elsewhere; {@link #get} is what policies read, the
 * last whole model. A model changes little as pods come, so it is built anew only when enough have.
 */
final class WorkloadLearner implements Supplier<WorkloadModel> {
  private static final double ENOUGH_NEWS = 0.02;

  private final WorkloadHistory history;
  private final Supplier<ClusterSnapshot> snapshots;
  private final Clock clock;
  private long noted;
  private ClusterShape notedShape = ClusterShape.EMPTY;
  private volatile WorkloadModel model = WorkloadModel.NONE;

  /** All that a model is made of. */
  record Notes(long seen, Map<Shape, Weight> weights, ClusterShape cluster) {}

  WorkloadLearner(WorkloadHistory history, Supplier<ClusterSnapshot> snapshots, Clock clock) {
    this.history = history;
    this.snapshots = snapshots;
    this.clock = clock;
  }

  /** A pod has got a node; {@code offer}: the node's, when it is known. */
  void bound(PodRecord pod, @Nullable NodeOffer offer) {
    long created = pod.createdMillis() > 0 ? pod.createdMillis() : clock.millis();
    if (offer instanceof NodeOffer.Offered o && !o.devices().isEmpty()) {
      history.saw(
          pod.request(), o.devices().getFirst().memory(), o.config().memoryFactor(), created);
    } else {
      history.saw(pod.request(), 0, 1, created);
    }
  }

  /** What a new model would be made of; empty while there is too little news for one. */
  Optional<Notes> notes() {
    List<NodeView> nodes = snapshots.get().all();
    ClusterShape cluster = ClusterShape.of(nodes);
    boolean news = history.seen() - noted > ENOUGH_NEWS * noted;
    if (!news && cluster.equals(notedShape)) {
      return Optional.empty();
    }
    noted = history.seen();
    notedShape = cluster;
    return Optional.of(new Notes(noted, history.weights(typicalMemory(nodes)), cluster));
  }

  private static long typicalMemory(List<NodeView> nodes) {
    return (long)
        nodes.stream()
            .flatMap(n -> n.cards().stream())
            .mapToLong(c -> c.total().memory())
            .average()
            .orElse(0);
  }

  /** Builds a model and swaps it in. */
  WorkloadModel build(Notes notes) {
    WorkloadModel next =
        WorkloadModel.of(model.version() + 1, notes.seen(), notes.weights(), notes.cluster());
    model = next;
    return next;
  }

  @Override
  public WorkloadModel get() {
    return model;
  }
}
