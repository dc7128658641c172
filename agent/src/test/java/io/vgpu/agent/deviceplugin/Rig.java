package io.vgpu.agent.deviceplugin;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vgpu.agent.inject.DeviceNodes;
import io.vgpu.agent.inject.ImexChannels;
import io.vgpu.agent.inject.ListStrategy;
import io.vgpu.agent.inject.MigMinors;
import io.vgpu.agent.kube.FakeApiServer;
import io.vgpu.agent.kube.KubeletPods;
import io.vgpu.agent.kube.NodePod;
import io.vgpu.agent.kube.NodePods;
import io.vgpu.agent.kube.PodMemory;
import io.vgpu.agent.kube.PodWriter;
import io.vgpu.agent.kubelet.FakeKubelet;
import io.vgpu.agent.shim.Libraries;
import io.vgpu.agent.shim.Partitions;
import io.vgpu.event.EventTypes;
import io.vgpu.event.VgpuEvent;
import io.vgpu.event.wire.EventBusPort;
import io.vgpu.kube.KubeClient;
import io.vgpu.kube.KubeEvents;
import io.vgpu.kube.TokenBucket;
import io.vgpu.model.ContainerDemand;
import io.vgpu.model.NodeConfig;
import io.vgpu.runtime.Lane;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** The whole device plugin between a fake kubelet and a fake API server, on real sockets. */
final class Rig {
  private static final long BOUND = 60;

  final Path dir;
  final Vertx vertx = Vertx.vertx();
  final FakeApiServer api = new FakeApiServer();
  final KubeClient client;
  final FakeKubelet kubelet;
  final FixedInventory inventory;
  final MemoryShim shim = new MemoryShim();
  final EventBusPort bus = new EventBusPort(vertx);
  final BlockingQueue<VgpuEvent> facts = new ArrayBlockingQueue<>(10_000);
  final SimpleMeterRegistry meters = new SimpleMeterRegistry();
  private final Lane files;
  private final KubeEvents events;

  /** What the API's watch knows; tests let it lag. */
  final PodMemory watch = new PodMemory(System::nanoTime, pod -> {});

  /** What a GET finds beyond the watch. */
  final Map<String, TestPod> gettable = new ConcurrentHashMap<>();

  /** By UID: what the kubelet's /pods shows of the pods it knows. */
  final Map<String, TestPod> pods = new ConcurrentHashMap<>();

  volatile boolean kubeletPortAnswers = true;

  /** How far the machine's clock is off; tests let it jump. */
  volatile Duration clockOff = Duration.ZERO;

  volatile boolean honor = true;

  /** Whether slots of cards are registered. */
  volatile boolean served = true;

  /** The registration socket's directory on the host, where the gate is on. */
  Optional<Path> registry = Optional.empty();

  /** What the next agent gives to containers. */
  String library = "libvgpu-control.so.1";

  /** Cards of the next agent that MPS partitions. */
  Partitions partitions = Partitions.NONE;

  /** How often the plugin said that it is registered. */
  final Semaphore registrations = new Semaphore(0);

  volatile boolean markRefused = true;
  private @Nullable DevicePlugin plugin;
  private @Nullable PodWriter writer;

  Rig(Path dir) throws Exception {
    this(dir, 8);
  }

  /** A node with so many cards. */
  Rig(Path dir, int cards) throws Exception {
    this.inventory = new FixedInventory(cards, new NodeConfig(4, 1, 1, 1));
    this.dir = Files.createDirectories(dir);
    Files.writeString(dir.resolve("lib.so"), "built");
    this.client = api.client(dir);
    this.kubelet = new FakeKubelet(dir, TestPod.NAMES.vgpuNumber(), 7);
    this.files = new Lane(vertx, "files", 64, Duration.ofSeconds(5), meters);
    this.events =
        new KubeEvents(
            client.get(),
            "vgpu-agent",
            new TokenBucket(100, 100, System::nanoTime),
            Clock.systemUTC(),
            meters);
    bus.on(EventTypes.CLAIM_ATTACHED, facts::add);
    bus.on(EventTypes.CLAIM_RELEASED, facts::add);
    bus.on(EventTypes.ALLOCATION_FAILED, facts::add);
    kubelet.start();
  }

  /** Starts an agent and waits until the kubelet has its devices. */
  Rig startAgent() throws Exception {
    startUnregistered();
    kubelet.nextRegistration();
    kubelet.nextList();
    return this;
  }

  Rig startUnregistered() throws Exception {
    DevicePlugin started = agent();
    plugin = started;
    done(started.start(() -> {}));
    return this;
  }

  /** An agent that is not started yet; whoever starts it beside another one ends it. */
  DevicePlugin agent() {
    PodWriter writes =
        new PodWriter(
            client.get(),
            pod -> watch.live(pod.uid()).isPresent(),
            new TokenBucket(20, 30, System::nanoTime));
    writer = writes;
    DevicePluginConfig config =
        new DevicePluginConfig(
            TestPod.NODE,
            kubelet.pluginDir(),
            DevicePluginConfig.ENDPOINT,
            kubelet.podResourcesSocket(),
            dir.resolve("manager"),
            Path.of("/etc/vgpu-manager", library),
            Path.of("/etc/vgpu-manager/ld.so.preload"),
            registry,
            served,
            false,
            honor,
            markRefused,
            DevicePluginConfig.CALL_LIMIT,
            DevicePluginConfig.START_LIMIT);
    return new DevicePlugin(
        config,
        new DevicePlugin.Collaborators(
            TestPod.NAMES,
            inventory,
            shim,
            new Libraries(dir.resolve("manager"), dir.resolve("lib.so"), library),
            partitions,
            injection(Set.of(ListStrategy.ENVVAR), Files::exists),
            () -> TestPod.SEAL,
            () -> "",
            new View(),
            kubeletPods(),
            writes,
            events,
            bus,
            ResponseFilter.IDENTITY,
            registrations::release,
            files,
            meters,
            clock(),
            System::nanoTime));
  }

  private Clock clock() {
    return new Clock() {
      @Override
      public Instant instant() {
        return Clock.systemUTC().instant().plus(clockOff);
      }

      @Override
      public ZoneId getZone() {
        return ZoneOffset.UTC;
      }

      @Override
      public Clock withZone(ZoneId zone) {
        return this;
      }
    };
  }

  /** By these strategies, with the machine's own device nodes that {@code exists} lets through. */
  static Injection injection(Set<ListStrategy> strategies, Predicate<Path> exists) {
    return new Injection(
        new Injection.Setup(
            strategies,
            new DeviceNodes(Path.of("/"), exists, MigMinors.NONE),
            ImexChannels.NONE,
            Set.of(),
            Set.of(),
            "cdi.k8s.io/",
            () -> new UUID(1, 2)));
  }

  /** Ends the agent; what it has on disk is all that is left of it. */
  Rig stopAgent() throws Exception {
    DevicePlugin running = plugin();
    done(running.stop(() -> {}));
    if (writer != null) {
      writer.close();
    }
    plugin = null;
    return this;
  }

  DevicePlugin plugin() {
    if (plugin == null) {
      throw new IllegalStateException("no agent runs");
    }
    return plugin;
  }

  static void done(Future<?> future) throws Exception {
    future.toCompletionStage().toCompletableFuture().get(BOUND, TimeUnit.SECONDS);
  }

  private KubeletPods kubeletPods() {
    return deadline ->
        kubeletPortAnswers
            ? Optional.of(
                kubelet.known().stream()
                    .map(k -> pods.get(k.ref().uid()))
                    .filter(p -> p != null)
                    .map(TestPod::node)
                    .toList())
            : Optional.empty();
  }

  private final class View implements NodePods {
    @Override
    public boolean synced() {
      return true;
    }

    @Override
    public List<NodePod> live() {
      return watch.live();
    }

    @Override
    public Optional<NodePod> live(String uid) {
      return watch.live(uid);
    }

    @Override
    public List<NodePod> named(String namespace, String name) {
      return watch.named(namespace, name);
    }

    @Override
    public Optional<NodePod> fetch(String namespace, String name, Duration deadline) {
      return Optional.ofNullable(gettable.get(namespace + "/" + name)).map(TestPod::node);
    }
  }

  /** The pod is bound: the API has it, and whoever looks at the kubelet will see it. */
  TestPod bind(TestPod pod) {
    pods.put(pod.ref().uid(), pod);
    watch.changed(pod.node());
    return pod;
  }

  /** Bind and admit. */
  FakeKubelet.Result run(TestPod pod) {
    bind(pod);
    return kubelet.admit(pod.ref(), pod.demand());
  }

  /** The kubelet asks, then its containers run: the status says so everywhere. */
  TestPod started(TestPod pod) {
    for (ContainerDemand c : pod.demand().vgpuContainers()) {
      Set<String> ids = kubelet.held(pod.ref().uid(), c.name());
      String refusal = ids.isEmpty() ? "" : kubelet.preStart(ids);
      if (!refusal.isEmpty()) {
        throw new AssertionError(refusal);
      }
    }
    return bind(pod.running());
  }

  /** Gone from API and kubelet. */
  void gone(TestPod pod) {
    kubelet.remove(pod.ref().uid());
    watch.gone(pod.node());
    plugin().podGone();
  }

  /** The next fact of a kind; fails when none comes in time. */
  <T extends VgpuEvent> T fact(Class<T> type) throws InterruptedException {
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(BOUND);
    while (true) {
      VgpuEvent f = facts.poll(end - System.nanoTime(), TimeUnit.NANOSECONDS);
      if (f == null) {
        throw new AssertionError("no " + type.getSimpleName() + " came in time");
      }
      if (type.isInstance(f)) {
        return type.cast(f);
      }
    }
  }

  /** Cards of ids, sorted. */
  static Set<String> cards(Set<String> ids) {
    Set<String> cards = new java.util.TreeSet<>();
    ids.forEach(id -> cards.add(DeviceIds.gpu(id).orElseThrow().value()));
    return cards;
  }

  /** All ids that the kubelet believes to be held, by container; for "no id twice". */
  Map<String, Set<String>> heldByKubelet() {
    Map<String, Set<String>> held = new LinkedHashMap<>();
    kubelet
        .known()
        .forEach(
            k ->
                k.demand()
                    .vgpuContainers()
                    .forEach(
                        c ->
                            held.put(
                                k.ref().uid() + "/" + c.name(),
                                kubelet.held(k.ref().uid(), c.name()))));
    return held;
  }

  /** The library of this name on the node. */
  Path library(String name) {
    return dir.resolve("manager").resolve(name);
  }

  List<Path> managerFiles() throws Exception {
    try (var list = Files.list(dir.resolve("manager").resolve("checkpoints"))) {
      return new ArrayList<>(list.toList());
    }
  }

  Path checkpointFile() {
    return dir.resolve("manager").resolve("checkpoints").resolve("allocations.json");
  }

  void close() throws Exception {
    if (plugin != null) {
      stopAgent();
    }
    kubelet.close();
    events.close();
    client.close();
    api.close();
    done(vertx.close());
  }
}
