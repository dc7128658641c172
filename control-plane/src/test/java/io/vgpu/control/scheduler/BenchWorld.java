package io.vgpu.control.scheduler;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.vertx.core.DeploymentOptions;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerOptions;
import io.vgpu.claim.ClaimCodec;
import io.vgpu.claim.ClaimReader;
import io.vgpu.claim.ClaimSeal;
import io.vgpu.claim.InventoryCodec;
import io.vgpu.claim.Names;
import io.vgpu.control.cluster.Budgets;
import io.vgpu.control.cluster.ClusterState;
import io.vgpu.control.cluster.Host;
import io.vgpu.control.cluster.NodeRecord;
import io.vgpu.control.cluster.PodRecord;
import io.vgpu.control.cluster.PodRequest;
import io.vgpu.control.cluster.Reservation;
import io.vgpu.control.kube.BindingApi;
import io.vgpu.control.metrics.SchedulerMeters;
import io.vgpu.control.packing.WorkloadHistory;
import io.vgpu.control.packing.WorkloadModel;
import io.vgpu.control.scheduler.policy.Policies;
import io.vgpu.control.testing.Nodes;
import io.vgpu.model.GpuDevice;
import io.vgpu.model.NodeConfig;
import io.vgpu.model.NodeTopology;
import io.vgpu.model.PlacementPolicy;
import io.vgpu.model.PodClaim;
import io.vgpu.runtime.Lane;
import java.lang.management.ManagementFactory;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * The extender's verbs on loopback over a cluster that exists in memory only: what an API server
 * would answer is answered here at once, so that figures are of the extender alone.
 */
final class BenchWorld implements AutoCloseable {
  /** 8 cards: 4 of 12288 MiB on NUMA 0, 4 of 20480 MiB on NUMA 1, in 10 slots each. */
  static final int CARDS = 8;

  private static final ClaimSeal SEAL = ClaimSeal.parse("0123456789abcdef0123456789abcdef");

  private final Vertx vertx = Vertx.vertx();
  private final SimpleMeterRegistry registry = new SimpleMeterRegistry();
  private final Lane lane = new Lane(vertx, "scheduler", 4096, Duration.ofSeconds(60), registry);
  private final ClusterState state =
      new ClusterState(new ClaimReader(() -> SEAL), 0, System::nanoTime, Nodes.QUIET);
  private final AtomicReference<WorkloadModel> model = new AtomicReference<>(WorkloadModel.NONE);
  private final WorkloadHistory history = new WorkloadHistory(Duration.ofDays(7));
  private final CommitDesk desk;
  private final ExtenderService service;
  private final int port;
  private final List<String> names = new ArrayList<>();
  private final Deque<PodRequest> bound = new ArrayDeque<>();
  private final AtomicReference<@Nullable PodRequest> binding = new AtomicReference<>();
  private final BenchOracle oracle = new BenchOracle();
  private final Random random;

  BenchWorld(int nodes, int pods, long seed) {
    random = new Random(seed);
    SchedulerMeters meters = new SchedulerMeters(registry);
    Allocator allocator = new Allocator(new Policies(model::get));
    Alignments alignments = new Alignments(state.siblings());
    desk = new CommitDesk(state, allocator, alignments, System::nanoTime);
    PendingPods pending = new PendingPods();
    DecisionLog decisions = new DecisionLog(Clock.systemUTC(), () -> {});
    PlacementNews news =
        new PlacementNews(
            new PodEvents((pod, type, reason, message) -> {}, System::nanoTime),
            fact -> {},
            decisions,
            Clock.systemUTC());
    ExtenderJson json = new ExtenderJson(Names.DEFAULT, true);
    FilterVerb filter =
        new FilterVerb(
            allocator,
            alignments,
            json,
            new Shortlists(Shortlists.USUAL, allocator),
            0,
            System::nanoTime);
    VerbClock verbs = new VerbClock(meters, System::nanoTime);
    SnapshotReaders readers =
        new SnapshotReaders(vertx, "snapshot-readers", Runtime.getRuntime().availableProcessors());
    BindingApi api = new InstantApi();
    Binder binder =
        new Binder(
            Names.DEFAULT,
            lane,
            desk,
            api,
            new DeafnessCheck(System::nanoTime, System::nanoTime, api, lane, desk, meters),
            () -> SEAL,
            pending,
            state::pod,
            news,
            meters,
            Clock.systemUTC(),
            System::nanoTime);
    service =
        new ExtenderService(
            json,
            filter,
            new PrioritizeVerb(
                allocator, alignments, filter, PlacementPolicy.FORESIGHT, System::nanoTime),
            binder,
            state,
            lane,
            readers,
            pending,
            news,
            decisions,
            meters,
            () -> Future.succeededFuture(true),
            verbs,
            System::nanoTime);
    RareVerbs rare =
        new RareVerbs(
            json,
            new PreemptVerb(allocator, new Budgets(), System::nanoTime),
            new DryRunVerb(allocator, alignments, json, 0, System::nanoTime),
            alignments,
            state,
            lane,
            readers,
            new SnapshotReaders(vertx, "dry-run", 1),
            news,
            meters,
            () -> Future.succeededFuture(true),
            () -> Future.succeededFuture(true),
            verbs);
    fill(nodes, pods);
    AtomicReference<@Nullable HttpServer> server = new AtomicReference<>();
    get(
        vertx.deployVerticle(
            () ->
                new ExtenderVerticle(
                    "127.0.0.1",
                    0,
                    () -> Future.succeededFuture(new HttpServerOptions()),
                    server::set,
                    service,
                    rare,
                    new Turnstile(4),
                    () -> ""),
            new DeploymentOptions()));
    port = Objects.requireNonNull(server.get(), "listens").actualPort();
  }

  /** Answers every Binding with success, and the watch with it. */
  private final class InstantApi implements BindingApi {
    @Override
    public Posted post(Binding b) {
      PodRequest pod = Objects.requireNonNull(binding.get(), "nobody binds");
      PodClaim claim =
          ClaimCodec.decode(b.annotations().getOrDefault(Names.DEFAULT.preAllocated(), ""));
      putBound(pod, b.node(), claim, b.annotations().getOrDefault(Names.DEFAULT.claimHmac(), ""));
      return new Posted.Done();
    }

    @Override
    public Found read(String namespace, String name) {
      return new Found.Absent();
    }

    @Override
    public OnNode onNode(String node) {
      return new OnNode.Pods(List.of());
    }
  }

  private void putBound(PodRequest pod, String node, PodClaim claim, String seal) {
    onLane(
        () -> {
          state.putPod(new PodRecord(pod, node, false, false, ClaimCodec.encode(claim), seal));
          state.publish();
          return true;
        });
    history.saw(pod, 12288, 1, 1);
    oracle.bound(pod, node, claim);
    bound.add(pod);
  }

  private void fill(int nodes, int pods) {
    List<GpuDevice> devices = devices();
    onLane(
        () -> {
          for (int i = 0; i < nodes; i++) {
            String name = "node-%05d".formatted(i);
            names.add(name);
            oracle.node(name, devices);
            NodeRecord plain = Nodes.record(name, devices, NodeConfig.DEFAULT);
            state.putNode(
                new NodeRecord(
                    name,
                    plain.allocatable(),
                    plain.register(),
                    plain.config(),
                    Host.PLENTY,
                    InventoryCodec.encodeTopology(links()),
                    null));
          }
          state.publish();
          return true;
        });
    int placed = 0;
    for (int tries = 0; placed < pods && tries < 20 * pods; tries++) {
      PodRequest pod = BenchPods.small(random, "fill-" + tries);
      String node = names.get(tries % nodes);
      CommitDesk.Step step = onLane(() -> desk.plan(pod, node));
      if (step instanceof CommitDesk.Step.Post post) {
        Reservation r = post.reservation();
        putBound(pod, node, r.claim(), SEAL.seal(pod.pod().uid(), r.claim()));
        placed++;
      }
    }
    if (placed < pods) {
      throw new IllegalStateException("only " + placed + " of " + pods + " pods have room");
    }
  }

  static List<GpuDevice> devices() {
    List<GpuDevice> devices = new ArrayList<>();
    for (int i = 0; i < CARDS; i++) {
      boolean small = i < CARDS / 2;
      devices.add(
          Nodes.card(
              i, small ? Nodes.TI3080 : Nodes.TI4080, small ? 12288 : 20480, 10, small ? 0 : 1));
    }
    return devices;
  }

  /** NVLink among the four of a NUMA node, double in pairs; a switch across. */
  static NodeTopology links() {
    SortedMap<Integer, SortedMap<Integer, List<Integer>>> links = new TreeMap<>();
    for (int a = 0; a < CARDS; a++) {
      SortedMap<Integer, List<Integer>> peers = new TreeMap<>();
      for (int b = 0; b < CARDS; b++) {
        if (a != b) {
          peers.put(b, List.of(a / 4 != b / 4 ? 5 : a / 2 == b / 2 ? 8 : 7));
        }
      }
      links.put(a, peers);
    }
    return new NodeTopology(links);
  }

  /** Takes one of the oldest pods away, as its end would. */
  void removeOldest() {
    PodRequest gone = bound.poll();
    if (gone != null) {
      onLane(
          () -> {
            state.removePod(gone.pod().uid());
            state.publish();
            return true;
          });
      oracle.gone(gone);
    }
  }

  void binding(PodRequest pod) {
    binding.set(pod);
  }

  /** What policies that look ahead know of the workload: the pods that are there. */
  void learn() {
    WorkloadLearner learner = new WorkloadLearner(history, state::snapshot, Clock.systemUTC());
    learner.notes().ifPresent(notes -> model.set(learner.build(notes)));
  }

  ExtenderService service() {
    return service;
  }

  BenchOracle oracle() {
    return oracle;
  }

  int port() {
    return port;
  }

  List<String> names() {
    return names;
  }

  int pods() {
    return bound.size();
  }

  private <T> T onLane(Callable<T> work) {
    return get(lane.call(work));
  }

  static <T> T get(Future<T> future) {
    return future.toCompletionStage().toCompletableFuture().orTimeout(120, TimeUnit.SECONDS).join();
  }

  @Override
  public void close() {
    get(vertx.close());
  }

  /** For the report. */
  static Map<String, Object> machine() {
    return Map.of(
        "cpus",
        Runtime.getRuntime().availableProcessors(),
        "java",
        Runtime.version().toString(),
        "jvm",
        String.join(" ", ManagementFactory.getRuntimeMXBean().getInputArguments()),
        "maxHeapMiB",
        Runtime.getRuntime().maxMemory() >> 20);
  }
}
