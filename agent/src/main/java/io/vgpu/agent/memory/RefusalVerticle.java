package io.vgpu.agent.memory;

import io.micrometer.core.instrument.MeterRegistry;
import io.vertx.core.Future;
import io.vertx.core.VerticleBase;
import io.vgpu.agent.shim.RegionRounds;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Once a second looks on lane {@code regions} at what containers were refused, and tells it. Never
 * more than one look is under way; one that fails is said once and tried again, and nothing is
 * lost, since containers count by themselves.
 */
public final class RefusalVerticle extends VerticleBase {
  private static final Logger log = LoggerFactory.getLogger(RefusalVerticle.class);
  private static final long INTERVAL_MS = 1000;

  private final RegionRounds regions;
  private final RefusalNews news;
  private final RefusalLooks looks;
  private boolean failing;

  /** {@code news} must not be used by others. */
  public RefusalVerticle(
      RegionRounds regions, RefusalNews news, String node, MeterRegistry meters) {
    this.regions = regions;
    this.news = news;
    this.looks = new RefusalLooks(node, meters);
  }

  @Override
  public Future<?> start() {
    return regions.beforeFiguresGo(looks::look).onSuccess(v -> next());
  }

  private void next() {
    vertx.setTimer(INTERVAL_MS, t -> tick());
  }

  private void tick() {
    regions
        .round(looks::round)
        .onComplete(
            done -> {
              if (done.failed() && !failing) {
                log.error("look at refused memory failed", done.cause());
              }
              failing = done.failed();
              news.tell(done.succeeded() ? done.result() : List.of());
              next();
            });
  }
}
