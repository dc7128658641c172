package io.vgpu.control.reschedule;

import io.vertx.core.Future;
import io.vertx.core.VerticleBase;
import io.vgpu.control.reschedule.PodsApi.ApiFault;
import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Looks every few seconds which pods hold cards that must be left, and hands them to the
 * rescheduler. Asks the API server nothing while there are no such cards. On a virtual thread: its
 * calls block.
 */
public final class LeavingVerticle extends VerticleBase {
  private static final Logger log = LoggerFactory.getLogger(LeavingVerticle.class);

  private final CardsToLeave cards;
  private final Function<String, List<FailedPod>> podsOf;
  private final Consumer<FailedPod> rescheduler;
  private final Duration every;

  /** {@code podsOf}: the pods of a node; blocks, throws {@link ApiFault}. */
  public LeavingVerticle(
      CardsToLeave cards,
      Function<String, List<FailedPod>> podsOf,
      Consumer<FailedPod> rescheduler,
      Duration every) {
    this.cards = cards;
    this.podsOf = podsOf;
    this.rescheduler = rescheduler;
    this.every = every;
  }

  @Override
  public Future<?> start() {
    again();
    return Future.succeededFuture();
  }

  private void again() {
    vertx.setTimer(
        every.toMillis(),
        t -> {
          try {
            look();
          } finally {
            again();
          }
        });
  }

  private void look() {
    for (String node : cards.nodes()) {
      try {
        podsOf.apply(node).stream().filter(FailedPod::mustGo).forEach(rescheduler);
      } catch (ApiFault e) {
        log.warn("pods not read, tried again [node: {}, cause: {}]", node, e.getMessage());
      }
    }
  }
}
