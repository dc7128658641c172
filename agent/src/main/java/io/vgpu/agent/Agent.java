package io.vgpu.agent;

import io.micrometer.core.instrument.Tags;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.vertx.core.DeploymentOptions;
import io.vertx.core.Future;
import io.vertx.core.ThreadingModel;
import io.vertx.core.VerticleBase;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vgpu.agent.config.AgentConfig;
import io.vgpu.agent.config.AgentGate;
import io.vgpu.agent.deviceplugin.Injection;
import io.vgpu.agent.deviceplugin.ResponseFilter;
import io.vgpu.agent.gpu.CardNotes;
import io.vgpu.agent.gpu.CardSamples;
import io.vgpu.agent.gpu.DriverInfo;
import io.vgpu.agent.gpu.GpuDriver;
import io.vgpu.agent.gpu.GpuDriverException;
import io.vgpu.agent.gpu.GpuHealthVerticle;
import io.vgpu.agent.gpu.NodeGpus;
import io.vgpu.agent.gpu.PhysicalGpu;
import io.vgpu.agent.gpu.nvml.NvmlGpuDriver;
import io.vgpu.agent.kube.ApiReviews;
import io.vgpu.agent.kube.NodePublisher;
import io.vgpu.agent.kube.ScrapeAccess;
import io.vgpu.agent.kube.UnservedResources;
import io.vgpu.agent.kubelet.KubeletCheckpoint;
import io.vgpu.agent.measure.ContainerSeries;
import io.vgpu.agent.measure.Listings;
import io.vgpu.agent.measure.MeasureVerticle;
import io.vgpu.agent.measure.Measurements;
import io.vgpu.agent.measure.MigHolders;
import io.vgpu.agent.measure.MigSeries;
import io.vgpu.agent.measure.PodScope;
import io.vgpu.agent.measure.Reservations;
import io.vgpu.agent.measure.ReservedSeries;
import io.vgpu.agent.memory.ContextVerticle;
import io.vgpu.agent.memory.RefusalNews;
import io.vgpu.agent.memory.RefusalVerticle;
import io.vgpu.agent.metrics.AgentMeters;
import io.vgpu.agent.metrics.CardSeries;
import io.vgpu.agent.metrics.MetricsPage;
import io.vgpu.agent.metrics.Series;
import io.vgpu.agent.mps.MpsVerticle;
import io.vgpu.agent.notes.Checkpoint;
import io.vgpu.agent.posix.Futex;
import io.vgpu.agent.posix.Mounts;
import io.vgpu.agent.refund.RefundVerticle;
import io.vgpu.agent.shim.Partitions;
import io.vgpu.agent.shim.ShimFolders;
import io.vgpu.agent.shim.ShimVerticle;
import io.vgpu.event.EventTypes;
import io.vgpu.event.wire.EventBusPort;
import io.vgpu.kube.KubeClient;
import io.vgpu.kube.KubeEvents;
import io.vgpu.kube.TlsReload;
import io.vgpu.runtime.OpsVerticle;
import io.vgpu.runtime.Shutdown;
import io.vgpu.runtime.Version;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The agent of one node, put together (architecture.md 4): Vert.x, cards, lanes, objects, deployed,
 * then ready. The only place with many {@code new}s. {@link #run} blocks until the process is told
 * to end.
 */
public final class Agent {
  private static final Logger log = LoggerFactory.getLogger(Agent.class);
  private static final Duration STOP_STEP = Duration.ofSeconds(5);
  private static final Duration UNSERVED_PAUSE = Duration.ofSeconds(5);

  /** Cards that nobody keeps awake take seconds to their first answer. */
  private static final Duration CARD_ANSWERS = Duration.ofSeconds(10);

  private static final int FAILED = 1;

  /** What a sub-command runs (D12). */
  public enum Role {
    /** Cards and metrics. */
    MONITOR,
    /** The same, and everything that gives cards to containers. */
    PLUGIN
  }

  private final AgentConfig config;
  private final Optional<ConfigFollower.Source> source;
  private final Role role;
  private final ResponseFilter filter;
  private final Clock clock = Clock.systemUTC();
  private final Shutdown shutdown = new Shutdown(STOP_STEP);
  private final Readiness readiness = new Readiness();
  private @Nullable KubeClient kube;
  private final CompletableFuture<Integer> ended = new CompletableFuture<>();
  private final PrometheusMeterRegistry meters =
      new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);

  /**
   * {@code source}: the file that {@code config} came from, to be followed; {@code filter}: the
   * last hand on Allocate's answers, {@link ResponseFilter#IDENTITY} in production.
   */
  Agent(
      AgentConfig config,
      Optional<ConfigFollower.Source> source,
      Role role,
      ResponseFilter filter) {
    this.config = config;
    this.source = source;
    this.role = role;
    this.filter = filter;
    meters.config().commonTags(Tags.of("service", Series.SERVICE));
  }

  /**
   * Runs until told to end; returns the exit status. What cannot start is logged with its cause.
   */
  public int run() {
    Vertx vertx = Vertx.vertx(new VertxOptions().setPreferNativeTransport(true));
    shutdown.add("vertx", vertx::close);
    shutdown.install();
    try {
      start(vertx);
      readiness.started();
      log.info(
          "up [node: {}, version: {}, gates: {}]",
          config.nodeName(),
          Version.current(),
          config.gates());
      return ended.join();
    } catch (GpuDriverException | IOException | CompletionException e) {
      log.error("cannot start [cause: {}]", e.getMessage());
      log.debug("cannot start", e);
      return FAILED;
    } finally {
      shutdown.run();
    }
  }

  /** Ends {@link #run} with this status. Any thread. */
  public void end(int status) {
    ended.complete(status);
  }

  private void start(Vertx vertx) throws IOException {
    // first, so that probes are answered while a slow driver is asked
    deploy(vertx, ops(vertx));
    AgentConfig.Cards cards = config.cards();
    CardNotes remembered = remembered();
    NvmlGpuDriver driver =
        NvmlGpuDriver.open(
            cards.containerDriverRoot(),
            cards.sysfsRoot(),
            System::nanoTime,
            remembered.cards(),
            CARD_ANSWERS);
    DriverInfo info = driver.info();
    List<PhysicalGpu> gpus = driver.discover();
    NodeGpus inventory = inventory(driver, gpus);
    driver.silent().forEach(card -> inventory.markUnhealthy(card, CardWatch.SILENT));
    log.info(
        "cards found [cards: {}, driver: {}, cuda: {}]",
        gpus.size(),
        info.driverVersion(),
        info.cudaVersion());

    List<PhysicalGpu> partitioned =
        role == Role.PLUGIN ? config.mps().devices().among(gpus) : List.of();
    Lanes lanes = Lanes.open(vertx, gpus, partitioned, meters);
    EventBusPort bus = new EventBusPort(vertx);
    CardSamples samples = new CardSamples(cards.samplesStaleAfter());
    meters
        .getPrometheusRegistry()
        .register(new CardSeries(config.nodeName(), info, inventory, samples, System::nanoTime));
    if (role == Role.MONITOR) {
      new CardWatch(config, driver, inventory, samples, lanes, bus, meters, clock)
          .start(v -> deploy(vertx, v), gpus, driver.silent(), Optional.empty());
      follow(vertx, inventory, bus, text -> {});
    } else {
      cards.mig().check(inventory.cards());
      startPlugin(
          vertx, driver, info, gpus, remembered, partitioned, inventory, samples, lanes, bus);
    }
  }

  /** Who keeps notes knows the cards from before. */
  private CardNotes remembered() throws IOException {
    long boot = ShimFolders.bootIdHash();
    return role == Role.PLUGIN ? CardNotes.read(cardNotes(), boot) : new CardNotes(boot, List.of());
  }

  private Path cardNotes() {
    return config.shim().paths().managerDir().resolve("checkpoints/cards.json");
  }

  private OpsVerticle ops(Vertx vertx) {
    AgentConfig.Ops ops = config.ops();
    if (ops.open()) {
      log.warn(
          "metrics are served to everybody who reaches this node: without --enable-rbac, --ops-bind-address should name one address [address: {}]",
          ops.address());
    }
    MetricsPage page =
        new MetricsPage(
            meters,
            ops.askWhoScrapes()
                ? Optional.of(
                    new ScrapeAccess(
                        vertx, new ApiReviews(kube(vertx).get()), System::nanoTime, meters))
                : Optional.empty(),
            ops.minScrapeInterval(),
            System::nanoTime);
    return new OpsVerticle(
        ops.address(),
        ops.port(),
        page,
        readiness::missing,
        path -> Future.succeededFuture(Optional.empty()),
        ops.tls()
            .map(tls -> new TlsReload(vertx, tls.certificate(), tls.key()).every(tls.refresh())));
  }

  /** Opened when it is first needed; closed with the process. */
  private KubeClient kube(Vertx vertx) {
    KubeClient open = kube;
    if (open == null) {
      AgentConfig.Api api = config.api();
      open =
          KubeClient.open(api.kubeconfig().orElse(null), api.master().orElse(null), api.timeout());
      KubeClient closing = open;
      shutdown.add("Kubernetes client", () -> vertx.executeBlocking(() -> close(closing)));
      kube = open;
    }
    return open;
  }

  private NodeGpus inventory(GpuDriver driver, List<PhysicalGpu> gpus) {
    boolean topology = config.gates().on(AgentGate.TOPOLOGY_AWARE_GPU_ALLOCATION);
    gpus.stream()
        .filter(PhysicalGpu::mig)
        .forEach(g -> log.info("card in MIG mode serves no vGPU [gpu: {}]", g.uuid()));
    return new NodeGpus(
        gpus,
        config.cards().division(),
        topology ? Optional.of(driver.topology()) : Optional.empty(),
        config.cards().excluded());
  }

  private void follow(
      Vertx vertx, NodeGpus inventory, EventBusPort bus, Consumer<String> notApplied) {
    source.ifPresent(
        from ->
            deploy(
                vertx,
                new ConfigFollower(
                    from,
                    inventory,
                    bus,
                    (outcome, text) -> {
                      AgentMeters.CONFIG_CHANGES
                          .counter(meters, outcome.name().toLowerCase(Locale.ROOT))
                          .increment();
                      if (outcome != ConfigFollower.Outcome.APPLIED) {
                        notApplied.accept(text);
                      }
                    },
                    ConfigFollower.LOOK_EVERY,
                    clock)));
  }

  private void startPlugin(
      Vertx vertx,
      NvmlGpuDriver driver,
      DriverInfo info,
      List<PhysicalGpu> gpus,
      CardNotes remembered,
      List<PhysicalGpu> partitioned,
      NodeGpus inventory,
      CardSamples samples,
      Lanes lanes,
      EventBusPort bus)
      throws IOException {
    ShimFolders.Installed installed =
        ShimFolders.prepare(
            config.shim().paths(),
            config.shim().library(),
            Version.current(),
            new Mounts()::ensureTmpfs);
    GpuHealthVerticle health =
        new CardWatch(config, driver, inventory, samples, lanes, bus, meters, clock)
            .start(
                v -> deploy(vertx, v), gpus, driver.silent(), Optional.of(installed.bootIdHash()));
    ShimVerticle shim =
        new ShimVerticle(
            config.shim().paths(),
            installed.bootIdHash(),
            lanes.files(),
            lanes.regions(),
            clock,
            file -> AgentMeters.REGION_WRITES.counter(meters, file).increment());
    deploy(vertx, shim);
    deploy(vertx, new RefundVerticle(shim, gpus, samples, new Futex(), System::nanoTime, meters));

    RegistrationWiring registration = RegistrationWiring.prepare(config);
    Partitions partitions = partitions(vertx, partitioned, lanes);
    KubeClient kube = kube(vertx);
    Injection injection = InjectionWiring.prepare(config, inventory);
    NodePublisher publisher =
        new NodePublisher(
            kube.get(),
            config.nodeName(),
            config.names(),
            info,
            inventory,
            bus,
            ok -> AgentMeters.NODE_PATCHES.counter(meters, ok ? "ok" : "failed").increment());
    readiness.ask(() -> publisher.published() ? List.of() : List.of("node published"));
    await(
        vertx.deployVerticle(
            publisher, new DeploymentOptions().setThreadingModel(ThreadingModel.VIRTUAL_THREAD)));
    await(
        vertx.deployVerticle(
            new UnservedResources(
                kube.get(), config.nodeName(), PluginWiring.unserved(config), UNSERVED_PAUSE),
            new DeploymentOptions().setThreadingModel(ThreadingModel.VIRTUAL_THREAD)));
    PluginWiring plugin =
        new PluginWiring(
            config,
            kube,
            inventory,
            shim,
            partitions,
            installed,
            injection,
            lanes.files(),
            bus,
            filter,
            publisher::readAgain,
            meters,
            clock);
    readiness.ask(plugin::missing);
    shutdown.add("device plugin", plugin::stop);
    bus.on(EventTypes.GPU_HEALTH_CHANGED, e -> CardWatch.tell(plugin.events(), e));
    follow(
        vertx,
        inventory,
        bus,
        text ->
            plugin
                .events()
                .node(config.nodeName(), KubeEvents.Type.WARNING, "NodeConfigNotApplied", text));
    deploy(
        vertx,
        new RefusalVerticle(
            shim,
            new RefusalNews(
                config.nodeName(),
                bus::publish,
                (pod, reason, text) ->
                    plugin.events().pod(pod, KubeEvents.Type.WARNING, reason, text),
                clock,
                System::nanoTime),
            config.nodeName(),
            meters));
    Listings listings = new Listings();
    measure(vertx, gpus, inventory, shim, plugin, samples, listings, bus);
    slices(vertx, gpus, inventory, plugin, samples, lanes);
    deploy(
        vertx,
        new ContextVerticle(
            shim,
            driver,
            gpus,
            lanes.nvmlByCard(),
            registration.attribution(plugin::containerName),
            samples,
            listings,
            config.shim().contextInterval(),
            System::nanoTime,
            meters));
    // beside another agent, prepared is ready: what is missing from here on the plugin says
    readiness.started();
    AtomicBoolean ours = new AtomicBoolean();
    await(
        plugin.start(
            () -> {
              ours.set(true);
              health.keepNotes();
              new Checkpoint<>(cardNotes(), CardNotes.CODEC, lanes.files(), clock)
                  .save(remembered.with(gpus))
                  .onFailure(e -> log.warn("notes of cards not written [cause: {}]", e.toString()));
            }));
    if (ours.get()) { // not when it was told to end while it waited
      registration.start(
          verticle -> deployOwn(vertx, "registration", verticle),
          () -> Lanes.registry(vertx, meters),
          shim,
          plugin::containerName,
          meters);
    }
  }

  /** What containers use and pods hold, as series and as news. */
  private void measure(
      Vertx vertx,
      List<PhysicalGpu> gpus,
      NodeGpus inventory,
      ShimVerticle shim,
      PluginWiring plugin,
      CardSamples samples,
      Listings listings,
      EventBusPort bus) {
    Measurements measurements = new Measurements(System::nanoTime);
    Reservations reservations = new Reservations(config.names(), plugin.claims());
    meters
        .getPrometheusRegistry()
        .register(
            new ContainerSeries(
                config.nodeName(),
                inventory,
                measurements,
                new PodScope(plugin.nodePods()),
                config.gates().on(AgentGate.VIRTUAL_MEMORY_TRACKING)));
    meters
        .getPrometheusRegistry()
        .register(
            new ReservedSeries(
                config.nodeName(), inventory, () -> reservations.of(plugin.nodePods().live())));
    deploy(
        vertx,
        new MeasureVerticle(
            shim,
            shim::setBack,
            gpus,
            samples,
            listings,
            measurements,
            config.nodeName(),
            bus::publish,
            clock,
            System::nanoTime,
            meters));
  }

  /** MIG slices as series, where there are any. */
  private void slices(
      Vertx vertx,
      List<PhysicalGpu> gpus,
      NodeGpus inventory,
      PluginWiring plugin,
      CardSamples samples,
      Lanes lanes) {
    if (gpus.stream().allMatch(g -> g.migDevices().isEmpty())) {
      return;
    }
    MigHolders holders =
        new MigHolders(
            new KubeletCheckpoint(config.kubelet().devicePluginDir()),
            config.names().domain() + "/mig-",
            lanes.files());
    deploy(vertx, holders);
    meters
        .getPrometheusRegistry()
        .register(
            new MigSeries(
                config.nodeName(),
                inventory,
                samples,
                System::nanoTime,
                holders::last,
                uid -> plugin.nodePods().live(uid)));
  }

  /** Before the plugin, so that the first container finds its card's daemon. */
  private Partitions partitions(Vertx vertx, List<PhysicalGpu> chosen, Lanes lanes) {
    log.info(
        "cards partitioned by MPS [asked for: {}, chosen: {}]",
        config.mps().devices(),
        chosen.stream().map(PhysicalGpu::uuid).toList());
    if (chosen.isEmpty()) {
      return Partitions.NONE;
    }
    MpsVerticle mps =
        new MpsVerticle(
            chosen,
            lanes.mpsByCard(),
            config.shim().paths().usageDir(),
            config.cards().containerDriverRoot(),
            config.mps().control(),
            System::nanoTime,
            new Mounts()::ensureTmpfs,
            meters);
    deployOwn(vertx, "MPS daemons", mps);
    return mps;
  }

  private static boolean close(KubeClient kube) {
    kube.close();
    return true;
  }

  /** Ended by a step of its own: with Vert.x itself its lane ends before it can take leave. */
  private void deployOwn(Vertx vertx, String name, VerticleBase verticle) {
    Future<String> deployed = vertx.deployVerticle(verticle);
    await(deployed);
    shutdown.add(name, () -> vertx.undeploy(deployed.result()));
  }

  private static void deploy(Vertx vertx, VerticleBase verticle) {
    await(vertx.deployVerticle(verticle));
  }

  private static void await(Future<?> future) {
    future.toCompletionStage().toCompletableFuture().join();
  }
}
