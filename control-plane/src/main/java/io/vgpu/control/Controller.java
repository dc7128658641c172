package io.vgpu.control;

import io.vertx.core.DeploymentOptions;
import io.vertx.core.Future;
import io.vertx.core.ThreadingModel;
import io.vertx.core.Vertx;
import io.vgpu.control.explain.ExplainCollector;
import io.vgpu.control.explain.ExplainStore;
import io.vgpu.control.metrics.ControllerMeters;
import io.vgpu.control.reschedule.RescheduleReconciler;
import io.vgpu.control.reschedule.RescheduleVerticle;
import io.vgpu.control.reschedule.Rescheduler;
import io.vgpu.control.reschedule.kube.ControllerApi;
import io.vgpu.control.reschedule.kube.FailedPodWatches;
import java.net.URI;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What the leader runs; a process that waits for the lease runs none of it. */
final class Controller {
  private static final Logger log = LoggerFactory.getLogger(Controller.class);
  private static final Duration COLLECT_EVERY = Duration.ofSeconds(2);
  private static final Duration LOOK_FOR_LEAVING_EVERY = Duration.ofSeconds(5);

  private final Vertx vertx;
  private final ControllerApi api;
  private final ControllerMeters meters;
  private final Supplier<List<URI>> extenders;
  private final ExplainStore explanations = new ExplainStore();
  private volatile Optional<FailedPodWatches> watches = Optional.empty();
  private volatile Optional<String> deployment = Optional.empty();
  private volatile Optional<String> collector = Optional.empty();
  private volatile Optional<String> leaving = Optional.empty();
  private volatile Optional<Rescheduler> rescheduler = Optional.empty();

  /** {@code extenders}: whose decisions are collected; may block. */
  Controller(
      Vertx vertx, ControllerApi api, ControllerMeters meters, Supplier<List<URI>> extenders) {
    this.extenders = extenders;
    this.vertx = vertx;
    this.api = api;
    this.meters = meters;
  }

  /** Begins to act; called once. */
  void start() {
    Rescheduler worker =
        new Rescheduler(api.pods(), new RescheduleReconciler(), api.news(), Clock.systemUTC());
    RescheduleVerticle verticle = new RescheduleVerticle(worker);
    FailedPodWatches watch = api.failedPods(verticle::offer);
    meters.pending(worker::pending);
    meters.explanations(explanations::size);
    vertx
        .deployVerticle(new ExplainCollector(vertx, extenders, explanations, COLLECT_EVERY))
        .onSuccess(id -> collector = Optional.of(id))
        .onFailure(e -> log.error("explanations not collected", e));
    vertx
        .deployVerticle(api.leaving(verticle::offer, LOOK_FOR_LEAVING_EVERY), blocking())
        .onSuccess(id -> leaving = Optional.of(id))
        .onFailure(e -> log.error("drained cards are not left", e));
    rescheduler = Optional.of(worker);
    watches = Optional.of(watch);
    vertx
        .deployVerticle(verticle, blocking())
        .onSuccess(
            id -> {
              deployment = Optional.of(id);
              watch.start();
            })
        .onFailure(e -> log.error("rescheduler not started", e));
  }

  private static DeploymentOptions blocking() {
    return new DeploymentOptions().setThreadingModel(ThreadingModel.VIRTUAL_THREAD);
  }

  /** What a leader still waits for; one that does not lead is ready to take over. */
  List<String> missing() {
    if (watches.isEmpty()) {
      return List.of();
    }
    if (!watches.get().synced()) {
      return List.of("lists of nodes and failed pods");
    }
    return rescheduler.filter(Rescheduler::recovered).isPresent()
        ? List.of()
        : List.of("copies of pods kept by an earlier leader");
  }

  /** {@code /explain/NAMESPACE/POD}; a process that does not lead knows nothing. */
  Future<Optional<String>> explained(String path) {
    String[] parts = path.split("/", -1);
    return Future.succeededFuture(
        parts.length == 4 && parts[0].isEmpty() && parts[1].equals("explain")
            ? explanations.find(parts[2], parts[3])
            : Optional.empty());
  }

  Future<?> stop() {
    watches.ifPresent(FailedPodWatches::close);
    Future<?> collected = collector.map(vertx::undeploy).orElseGet(Future::succeededFuture);
    return collected
        .transform(done -> leaving.map(vertx::undeploy).orElseGet(Future::succeededFuture))
        .transform(done -> deployment.map(vertx::undeploy).orElseGet(Future::succeededFuture));
  }
}
