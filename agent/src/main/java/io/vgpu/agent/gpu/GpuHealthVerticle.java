package io.vgpu.agent.gpu;

import io.vertx.core.Future;
import io.vertx.core.VerticleBase;
import io.vgpu.event.VgpuEvent.GpuHealthChanged;
import io.vgpu.event.VgpuEvent.GpuInventoryChanged;
import io.vgpu.event.wire.EventBusPort;
import io.vgpu.model.GpuUuid;
import io.vgpu.runtime.Lane;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.IntConsumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Waits for critical errors on lane {@code nvml-events} and marks cards unhealthy (node-agent.md
 * 2.5). Every change is published as {@link GpuHealthChanged} and {@link GpuInventoryChanged}; who
 * wants to know subscribes.
 */
public final class GpuHealthVerticle extends VerticleBase {
  private static final Logger log = LoggerFactory.getLogger(GpuHealthVerticle.class);
  private static final Duration WAIT = Duration.ofSeconds(5);
  private static final Duration PAUSE_AFTER_FAILURE = Duration.ofSeconds(1);

  private final GpuDriver driver;
  private final NodeGpus gpus;
  private final XidRules rules;
  private final Lane lane;
  private final EventBusPort bus;
  private final String node;
  private final Clock clock;
  private final IntConsumer seen;
  private boolean stopped;

  /** {@code seen} is told the number of every critical error, ignored ones too. */
  public GpuHealthVerticle(
      GpuDriver driver,
      NodeGpus gpus,
      XidRules rules,
      Lane lane,
      EventBusPort bus,
      String node,
      Clock clock,
      IntConsumer seen) {
    this.driver = driver;
    this.gpus = gpus;
    this.rules = rules;
    this.lane = lane;
    this.bus = bus;
    this.node = node;
    this.clock = clock;
    this.seen = seen;
  }

  @Override
  public Future<?> start() {
    if (rules.watching()) {
      next();
    } else {
      log.info("health checks are disabled");
    }
    return Future.succeededFuture();
  }

  @Override
  public Future<?> stop() {
    stopped = true;
    return Future.succeededFuture();
  }

  private void next() {
    lane.call(() -> driver.awaitHealthEvent(WAIT))
        .onComplete(
            waited -> {
              if (stopped) {
                return;
              }
              if (waited.succeeded()) {
                waited.result().ifPresent(this::act);
                next();
              } else {
                failed(waited.cause());
                vertx.setTimer(PAUSE_AFTER_FAILURE.toMillis(), t -> next());
              }
            });
  }

  private void act(HealthEvent event) {
    switch (event) {
      case HealthEvent.NotWatchable(GpuUuid gpu, String cause) ->
          mark(gpu, "cannot be watched: " + cause);
      case HealthEvent.Xid(Optional<GpuUuid> device, int xid) -> {
        seen.accept(xid);
        if (!rules.counts(xid)) {
          log.info("critical error ignored [device: {}, xid: {}]", device, xid);
        } else if (device.isPresent()) {
          mark(device.get(), "XID " + xid);
        } else {
          markAll("XID " + xid + " of a card that the driver does not name");
        }
      }
    }
  }

  private void failed(Throwable cause) {
    if (cause instanceof GpuDriverException e && e.isGpuLost()) {
      markAll("a card is lost, the driver does not say which");
    } else {
      log.warn("waiting for critical errors failed [cause: {}]", cause.toString());
    }
  }

  private void markAll(String cause) {
    List.copyOf(gpus.cards()).forEach(c -> mark(c.gpu().uuid(), cause));
  }

  private void mark(GpuUuid device, String cause) {
    if (gpus.markUnhealthy(device, cause)) {
      log.error("card is unhealthy [device: {}, cause: {}]", device, cause);
      bus.publish(new GpuHealthChanged(clock.instant(), node, device, false, cause));
      bus.publish(new GpuInventoryChanged(clock.instant(), node, gpus.published()));
    }
  }
}
