package io.vgpu.control.reschedule.kube;

import io.micrometer.core.instrument.MeterRegistry;
import io.vertx.core.Future;
import io.vgpu.claim.Names;
import io.vgpu.control.metrics.ControllerMeters;
import io.vgpu.control.reschedule.CardsToLeave;
import io.vgpu.control.reschedule.FailedPod;
import io.vgpu.control.reschedule.LeavingVerticle;
import io.vgpu.control.reschedule.PodsApi;
import io.vgpu.control.reschedule.RescheduleNews;
import io.vgpu.kube.KubeClient;
import io.vgpu.kube.KubeEvents;
import io.vgpu.kube.Leadership;
import io.vgpu.kube.TokenBucket;
import java.net.URI;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Everything of the controller that talks with the API server, over one client. */
public final class ControllerApi {
  private static final String COMPONENT = "vgpu-manager-controller";
  private static final String SCHEDULERS = "vgpu-manager-scheduler";
  private static final double EVENTS_A_SECOND = 20;
  private static final int EVENTS_AT_ONCE = 100;

  private final KubeClient client;
  private final Names names;
  private final String copiesNamespace;
  private final KubeEvents events;
  private final MeterRegistry meters;
  private final CardsToLeave cards;

  /**
   * @param requestTimeout bounds each request
   * @param unhealthyGrace how long pods stay on a sick card
   */
  public ControllerApi(
      @Nullable Path kubeconfig,
      @Nullable String master,
      Duration requestTimeout,
      Names names,
      String copiesNamespace,
      Duration unhealthyGrace,
      MeterRegistry meters) {
    this.cards = new CardsToLeave(Clock.systemUTC(), unhealthyGrace);
    this.client = KubeClient.open(kubeconfig, master, requestTimeout);
    this.names = names;
    this.copiesNamespace = copiesNamespace;
    this.meters = meters;
    this.events =
        new KubeEvents(
            client.get(),
            COMPONENT,
            new TokenBucket(EVENTS_A_SECOND, EVENTS_AT_ONCE, System::nanoTime),
            Clock.systemUTC(),
            meters);
  }

  /** Pods and the copies of pods. */
  public PodsApi pods() {
    return kubePods();
  }

  private KubePods kubePods() {
    return new KubePods(client.get(), names, cards, copiesNamespace, Clock.systemUTC());
  }

  /** Finds the pods on cards that must be left, not yet deployed; needs the watches. */
  public LeavingVerticle leaving(Consumer<FailedPod> listener, Duration every) {
    return new LeavingVerticle(cards, kubePods()::on, listener, every);
  }

  /** Events on pods, log, counters. */
  public RescheduleNews news() {
    return new PodEventNews(events, new ControllerMeters(meters));
  }

  /** The watches, not yet started. */
  public FailedPodWatches failedPods(Consumer<FailedPod> listener) {
    return new FailedPodWatches(client.get(), names, cards, listener);
  }

  /**
   * Health ports of the extenders that run as pods of a namespace; blocks, throws what the client
   * throws.
   */
  public List<URI> extenders(String namespace, int opsPort) {
    return client.get().pods().inNamespace(namespace).list().getItems().stream()
        .filter(p -> p.getMetadata().getName().startsWith(SCHEDULERS))
        .map(p -> p.getStatus() == null ? null : p.getStatus().getPodIP())
        .filter(ip -> ip != null && !ip.isEmpty())
        .map(ip -> URI.create("http://" + (ip.contains(":") ? "[" + ip + "]" : ip) + ":" + opsPort))
        .toList();
  }

  /** The election, not yet started. */
  public Leadership leadership(Leadership.Settings settings) {
    return new Leadership(client.get(), settings);
  }

  /** Ends events and connections. */
  public Future<?> close() {
    events.close();
    client.close();
    return Future.succeededFuture();
  }
}
