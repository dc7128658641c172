package io.vgpu.control.scheduler;

import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.vertx.core.DeploymentOptions;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServer;
import io.vgpu.claim.ClaimReader;
import io.vgpu.control.cluster.Budgets;
import io.vgpu.control.cluster.ClusterFeed;
import io.vgpu.control.cluster.ClusterSnapshot;
import io.vgpu.control.cluster.ClusterState;
import io.vgpu.control.cluster.NodeOffer;
import io.vgpu.control.cluster.PodRecord;
import io.vgpu.control.cluster.Reservation;
import io.vgpu.control.kube.ApiAccess;
import io.vgpu.control.kube.BindingApi;
import io.vgpu.control.kube.ClusterWatches;
import io.vgpu.control.metrics.ControlMeters;
import io.vgpu.control.metrics.SchedulerMeters;
import io.vgpu.control.packing.WorkloadHistory;
import io.vgpu.control.scheduler.policy.Policies;
import io.vgpu.event.wire.EventBusPort;
import io.vgpu.kube.ClaimKeys;
import io.vgpu.kube.KubeEvents;
import io.vgpu.model.GpuUuid;
import io.vgpu.model.Use;
import io.vgpu.runtime.Lane;
import io.vgpu.runtime.OpsVerticle;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The extender, put together: flags to objects, objects to running servers. Nothing is decided
 * here.
 */
public final class SchedulerExtender {
  private static final Logger log = LoggerFactory.getLogger(SchedulerExtender.class);
  private static final Duration LANE_WARN = Duration.ofSeconds(2);
  private static final int LANE_QUEUE = 4096;
  private static final long TICK_MS = 500;
  private static final long KEYS_MS = 5_000;

  private static final int DRY_RUNS_WAITING = 16;

  /** Most that a request waits for the watches; kube-scheduler waits 30 s for us. */
  private static final long SYNC_WITHIN_MS = 10_000;

  private final Vertx vertx;
  private final ExtenderConfig config;
  private final ClaimKeys keys;
  private final Clock clock = Clock.systemUTC();
  private final LongSupplier nanoTime = System::nanoTime;
  private final PrometheusMeterRegistry registry =
      new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
  private final SchedulerMeters meters = new SchedulerMeters(registry);
  private final ApiAccess access;
  private final Lane lane;
  private final ClusterState state;
  private final WorkloadLearner learner;
  private final ClusterFeed feed;
  private final ClusterWatches watches;
  private final KubeEvents events;
  private final Binder binder;
  private final ReservationSweep sweep;
  private final ExtenderService service;
  private final RareVerbs rare;
  private final Budgets budgets = new Budgets();
  private final ExplainPage explain;
  private final SnapshotReaders explainers;
  private final Turnstile dryRuns = new Turnstile(DRY_RUNS_WAITING);
  private final List<HttpServer> servers = new ArrayList<>();
  private final Future<Void> synced;
  private volatile int inFlight;

  private SchedulerExtender(Vertx vertx, ExtenderConfig config, ClaimKeys keys, EventBusPort bus) {
    this.vertx = vertx;
    this.config = config;
    this.keys = keys;
    ExtenderConfig.Api api = config.api();
    boolean links = config.gates().on(ExtenderGate.TOPOLOGY_AWARE_GPU_ALLOCATION);
    this.access =
        new ApiAccess(api.kubeconfig(), api.master(), api.requestTimeout(), config.names(), links);
    this.lane = new Lane(vertx, "scheduler", LANE_QUEUE, LANE_WARN, registry);
    this.learner =
        new WorkloadLearner(
            new WorkloadHistory(config.packing().halfLife()), this::snapshot, clock);
    this.state =
        new ClusterState(new ClaimReader(keys), config.coreHeadroom(), nanoTime, new Reporter());
    this.feed = new ClusterFeed(vertx, lane, state, nanoTime);
    this.synced = feed.synced();
    this.watches = access.watches(feed, budgets);
    this.events =
        access.events(config.schedulerName(), api.qps(), api.burst(), nanoTime, clock, registry);
    BindingApi bindings = access.bindings(api.qps(), api.burst(), nanoTime);
    Policies policies = new Policies(learner);
    Allocator allocator = new Allocator(policies);
    Alignments alignments = new Alignments(state.siblings());
    CommitDesk desk =
        new CommitDesk(state, new Allocator(policies, meters::linkSearch), alignments, nanoTime);
    PendingPods pending = new PendingPods();
    DecisionLog decisions =
        new DecisionLog(clock, () -> meters.count(ControlMeters.DECISIONS_DROPPED));
    PlacementNews news =
        new PlacementNews(new PodEvents(events::pod, nanoTime), bus::publish, decisions, clock);
    this.binder =
        new Binder(
            config.names(),
            lane,
            desk,
            bindings,
            new DeafnessCheck(feed::podsHeardNanos, nanoTime, bindings, lane, desk, meters),
            keys,
            pending,
            state::pod,
            news,
            meters,
            clock,
            nanoTime);
    this.sweep = new ReservationSweep(lane, desk, bindings);
    ExtenderJson json = new ExtenderJson(config.names(), links);
    SnapshotReaders readers = new SnapshotReaders(vertx, "snapshot-readers", readers(config));
    VerbClock verbs = new VerbClock(meters, nanoTime);
    FilterVerb filter =
        new FilterVerb(
            allocator,
            alignments,
            json,
            new Shortlists(config.packing().maxFeasibleNodes(), allocator),
            config.coreHeadroom(),
            nanoTime);
    this.service =
        new ExtenderService(
            json,
            filter,
            new PrioritizeVerb(allocator, alignments, filter, config.packing().steer(), nanoTime),
            binder,
            state,
            lane,
            readers,
            pending,
            news,
            decisions,
            meters,
            this::awaitSync,
            verbs,
            nanoTime);
    this.rare =
        new RareVerbs(
            json,
            new PreemptVerb(allocator, budgets, nanoTime),
            new DryRunVerb(allocator, alignments, json, config.coreHeadroom(), nanoTime),
            alignments,
            state,
            lane,
            readers,
            new SnapshotReaders(vertx, "dry-run", 1),
            news,
            meters,
            this::awaitSync,
            () -> await(Future.all(synced, budgets.synced())),
            verbs);
    this.explainers = new SnapshotReaders(vertx, "explain", 1);
    this.explain = new ExplainPage(decisions, state::snapshot, allocator, alignments, nanoTime);
    meters.inFlight(() -> inFlight);
    meters.workload(() -> learner.get().known());
  }

  private ClusterSnapshot snapshot() {
    return state.snapshot();
  }

  private static int readers(ExtenderConfig config) {
    return config.gates().on(ExtenderGate.SERIALIZED_NODE_FILTER)
        ? 1
        : Runtime.getRuntime().availableProcessors();
  }

  /** With a bus of its own; reads the keys, throws {@code UsageException}. */
  public static SchedulerExtender of(Vertx vertx, ExtenderConfig config) {
    return of(vertx, config, new EventBusPort(vertx));
  }

  /** Facts go to {@code bus}. */
  public static SchedulerExtender of(Vertx vertx, ExtenderConfig config, EventBusPort bus) {
    return new SchedulerExtender(vertx, config, new ClaimKeys(config.claimKeyFile()), bus);
  }

  /** Starts watching and serving; completes when the ports listen, which is before the sync. */
  public Future<?> start() {
    watches.start();
    vertx.setPeriodic(TICK_MS, t -> tick());
    vertx.setPeriodic(KEYS_MS, t -> refreshKeys());
    vertx.setPeriodic(config.packing().rebuild().toMillis(), t -> learn());
    synced.onSuccess(in -> learn());
    ExtenderConfig.Server server = config.server();
    OpsVerticle ops =
        new OpsVerticle(
            server.opsAddress(), server.opsPort(), registry, feed::missing, this::explained);
    int instances = server.port() == 0 ? 1 : Runtime.getRuntime().availableProcessors();
    return Future.all(
        vertx.deployVerticle(this::verticle, new DeploymentOptions().setInstances(instances)),
        vertx.deployVerticle(ops));
  }

  /** {@code /explain/NAMESPACE/POD} for people, {@code /decisions/SEQUENCE} for the controller. */
  private Future<Optional<String>> explained(String path) {
    String[] parts = path.split("/", -1);
    if (parts.length == 3 && parts[1].equals("decisions") && parts[2].matches("\\d{1,18}")) {
      return explainers.read(() -> Optional.of(explain.decisions(Long.parseLong(parts[2]))));
    }
    boolean asked = parts.length == 4 && parts[0].isEmpty() && parts[1].equals("explain");
    return asked
        ? explainers.read(() -> explain.of(parts[2], parts[3]))
        : Future.succeededFuture(Optional.empty());
  }

  private ExtenderVerticle verticle() {
    ExtenderTls tls = new ExtenderTls(vertx, config.tls());
    return new ExtenderVerticle(
        config.server().address(),
        config.server().port(),
        tls::options,
        http -> {
          synchronized (servers) {
            servers.add(http);
          }
          tls.follow(http);
        },
        service,
        rare,
        dryRuns,
        () -> String.join(", ", feed.missing()));
  }

  private void tick() {
    lane.call(this::housekeeping).onSuccess(sweep::round);
  }

  /** Off the lane and off every decision; the next interval tries again what did not go. */
  private void learn() {
    lane.call(learner::notes)
        .onSuccess(
            notes ->
                notes.ifPresent(
                    n ->
                        vertx
                            .executeBlocking(() -> learner.build(n), false)
                            .onSuccess(model -> log.info("workload learned [{}]", model.words()))));
  }

  private void refreshKeys() {
    vertx
        .executeBlocking(keys::refresh, false)
        .onSuccess(
            others -> {
              if (others) {
                lane.call(
                    () -> {
                      state.readUncountedAgain();
                      state.publish();
                      return true;
                    });
              }
            });
  }

  private List<Reservation> housekeeping() {
    state.expireHolds();
    state.publish();
    inFlight = state.inFlight();
    return state.overdue();
  }

  private Future<Boolean> awaitSync() {
    return await(synced);
  }

  private static Future<Boolean> await(Future<?> synced) {
    return synced.isComplete()
        ? Future.succeededFuture(true)
        : synced.timeout(SYNC_WITHIN_MS, TimeUnit.MILLISECONDS).map(true).otherwise(false);
  }

  /** The port that the verbs are served on. */
  public int port() {
    synchronized (servers) {
      return servers.isEmpty() ? config.server().port() : servers.getFirst().actualPort();
    }
  }

  /** Completes when pods and nodes are known. */
  public Future<Void> synced() {
    return synced;
  }

  /** Ends watches and calls; Vert.x itself is the caller's. */
  public Future<?> stop() {
    return vertx.executeBlocking(
        () -> {
          watches.close();
          binder.close();
          sweep.close();
          events.close();
          access.close();
          return true;
        },
        false);
  }

  private final class Reporter implements ClusterState.Listener {
    @Override
    public void uncounted(PodRecord pod, String why) {
      meters.count(ControlMeters.POD_UNCOUNTED);
      log.warn(
          "bound pod counts nothing [pod: {}, node: {}, why: {}]",
          pod.request().pod(),
          pod.nodeName(),
          why);
    }

    @Override
    public void bound(PodRecord pod, @Nullable NodeOffer offer) {
      learner.bound(pod, offer);
    }

    @Override
    public void badCordon(String node, String problem) {
      meters.count(ControlMeters.CORDON_UNREADABLE);
      log.warn("cordon not read, cordons nothing [node: {}, why: {}]", node, problem);
      events.node(node, KubeEvents.Type.WARNING, "CordonUnreadable", "cordons nothing: " + problem);
    }

    @Override
    public void overcommitted(String node, GpuUuid card, Use used, Use total) {
      meters.count(ControlMeters.CARD_OVERCOMMITTED);
      log.warn(
          "card over-committed [node: {}, card: {}, used: {}, has: {}]", node, card, used, total);
    }
  }
}
