package io.vgpu.control.scheduler;

import io.vgpu.control.kube.BindingApi;
import io.vgpu.control.kube.BindingApi.OnNode;
import io.vgpu.control.metrics.ControlMeters;
import io.vgpu.control.metrics.SchedulerMeters;
import io.vgpu.runtime.Lane;
import java.time.Duration;
import java.util.Optional;
import java.util.function.LongSupplier;

/**
 * A connection can die without a word, and then the watch of pods merely is silent, for minutes: an
 * extender that now takes over from another would give that one's cards again. So a bind that has
 * heard nothing of pods for {@code FRESH} first asks the API server who is on the node.
 *
 * <p>Leaders of kube-scheduler change in no less time than that, so what the watch has said since
 * is later than the other's last bind. The pod to be bound was mostly seen a moment ago, and then
 * nothing is asked; a large cluster is never silent. Blocks.
 */
final class DeafnessCheck {
  static final Duration FRESH = Duration.ofSeconds(2);

  private final LongSupplier podsHeardNanos;
  private final LongSupplier nanoTime;
  private final BindingApi api;
  private final Lane lane;
  private final CommitDesk desk;
  private final SchedulerMeters meters;

  /** {@code podsHeardNanos}: when the watch of pods last said something, by {@code nanoTime}. */
  DeafnessCheck(
      LongSupplier podsHeardNanos,
      LongSupplier nanoTime,
      BindingApi api,
      Lane lane,
      CommitDesk desk,
      SchedulerMeters meters) {
    this.podsHeardNanos = podsHeardNanos;
    this.nanoTime = nanoTime;
    this.api = api;
    this.lane = lane;
    this.desk = desk;
    this.meters = meters;
  }

  /** Why the node must not be planned on now; empty when what is known of it will do. */
  Optional<String> refusal(String node) {
    if (nanoTime.getAsLong() - podsHeardNanos.getAsLong() < FRESH.toNanos()) {
      return Optional.empty();
    }
    meters.count(ControlMeters.BIND_RECHECK);
    return switch (api.onNode(node)) {
      case OnNode.Unreadable no ->
          Optional.of("the pods on node \"" + node + "\" cannot be read: " + no.cause());
      case OnNode.Pods pods -> {
        lane.call(() -> desk.learn(pods.all())).toCompletionStage().toCompletableFuture().join();
        yield Optional.empty();
      }
    };
  }
}
