package io.vgpu.agent.deviceplugin;

import io.grpc.ManagedChannel;
import io.grpc.StatusRuntimeException;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vgpu.agent.gpu.GpuInventory;
import io.vgpu.agent.kube.KubeletPods;
import io.vgpu.agent.kube.NodePods;
import io.vgpu.agent.kube.PodWriter;
import io.vgpu.agent.kubelet.KubeletRegistrar;
import io.vgpu.agent.kubelet.KubeletSocket;
import io.vgpu.agent.kubelet.KubeletTransport;
import io.vgpu.agent.kubelet.OpenStreams;
import io.vgpu.agent.kubelet.PodResources;
import io.vgpu.agent.notes.Checkpoint;
import io.vgpu.agent.notes.Tenure;
import io.vgpu.agent.shim.Libraries;
import io.vgpu.agent.shim.Partitions;
import io.vgpu.agent.shim.ShimWriter;
import io.vgpu.claim.ClaimSeal;
import io.vgpu.claim.Names;
import io.vgpu.event.EventTypes;
import io.vgpu.event.wire.EventBusPort;
import io.vgpu.kube.KubeEvents;
import io.vgpu.model.Reason;
import io.vgpu.runtime.Lane;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import k8s.deviceplugin.v1beta1.DevicePluginGrpc;
import k8s.deviceplugin.v1beta1.Empty;
import k8s.deviceplugin.v1beta1.ListAndWatchResponse;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The device plugin for {@code vgpu-number}, put together: from the kubelet's socket to the claim's
 * files (architecture.md 7, rows 5 to 8). It serves only after notes and region files are in order
 * (D21).
 */
public final class DevicePlugin {
  private static final Logger log = LoggerFactory.getLogger(DevicePlugin.class);

  /**
   * Who it works with.
   *
   * @param libraries those in the manager directory; its current one is what {@code
   *     config.hostLibrary} names
   * @param partitions cards that MPS partitions
   * @param injection brings cards into containers
   * @param seal the present claim keys; asked each time, because keys rotate
   * @param nodePolicy the node's own compute policy text, may be empty
   * @param filter a fault to answer with on purpose; {@link ResponseFilter#IDENTITY} in production
   * @param registered runs each time the kubelet registered us; must not block
   * @param files lane {@code files}
   * @param nanoTime monotonic clock
   */
  public record Collaborators(
      Names names,
      GpuInventory inventory,
      ShimWriter shim,
      Libraries libraries,
      Partitions partitions,
      Injection injection,
      Supplier<ClaimSeal> seal,
      Supplier<String> nodePolicy,
      NodePods nodePods,
      KubeletPods kubeletPods,
      PodWriter writer,
      KubeEvents events,
      EventBusPort bus,
      ResponseFilter filter,
      Runnable registered,
      Lane files,
      MeterRegistry meters,
      Clock clock,
      LongSupplier nanoTime) {}

  /** A look beside each registration: the target is to be back 0.5 s after a kubelet's restart. */
  private static final Duration NOTE_LIMIT = Duration.ofMillis(100);

  /** How long a list waits for that look, which bounds itself. */
  private static final Duration LIST_WAITS = Duration.ofMillis(500);

  private static final Duration RESTORE_LIMIT = Duration.ofSeconds(10);

  /** The sum of these is within what the end of the process may take. */
  private static final Duration LET_GO_LIMIT = Duration.ofSeconds(1);

  private static final Duration PREPARE_LIMIT = Duration.ofSeconds(5);
  private static final Duration OLD_AGENT_LOOK = Duration.ofMillis(20);

  private final DevicePluginConfig config;
  private final Collaborators with;
  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
  private final KubeletTransport transport = new KubeletTransport();
  private final PodResources podResources;
  private final Checkpoint<Ledger> checkpoint;
  private final Tenure tenure;
  private final PodViews views;
  private final Books books;
  private final StartUp startUp;
  private final Reconciler reconciler;
  private final DeviceList devices;
  private final OpenStreams streams;
  private final KubeletSocket socket;
  private final KubeletRegistrar registrar;
  private final List<EventBusPort.Subscription> subscriptions = new ArrayList<>();
  private final AtomicReference<OptionalLong> gapBegan =
      new AtomicReference<>(OptionalLong.empty());
  private volatile boolean inOrder;
  private volatile boolean standsBy;
  private volatile boolean ending;

  /** Wires; nothing runs before {@link #start}. */
  public DevicePlugin(DevicePluginConfig config, Collaborators with) {
    this.config = config;
    this.with = with;
    Names names = with.names();
    LongSupplier nanoTime = with.nanoTime();
    this.podResources =
        new PodResources(transport, config.podResourcesSocket(), names.vgpuNumber(), nanoTime);
    this.checkpoint =
        new Checkpoint<>(
            config.managerDir().resolve("checkpoints").resolve("allocations.json"),
            LedgerCodec.CODEC,
            with.files(),
            with.clock());
    this.tenure = new Tenure(config.managerDir().resolve("checkpoints").resolve("tenure"));
    this.books = new Books(checkpoint);
    this.views = new PodViews(podResources, with.kubeletPods(), with.nodePods(), with.meters());
    ClaimResolver resolver =
        new ClaimResolver(
            config.node(),
            names,
            with.seal(),
            with.libraries().current(),
            config.honorPreAllocated());
    ContainerFiles containerFiles =
        new ContainerFiles(
            with.shim(), with.inventory(), with.nodePolicy(), with.partitions().cards());
    FailureMarker failure =
        new FailureMarker(
            config.node(),
            names,
            config.markRefused(),
            with.bus(),
            with.events(),
            with.writer(),
            with.clock());
    SuccessMarker success = new SuccessMarker(config.node(), names, with.writer());
    KubeletLife kubelet = new KubeletLife(nanoTime);
    this.startUp = new StartUp(books, views, resolver, containerFiles, failure, kubelet);
    this.reconciler =
        new Reconciler(
            config.node(),
            names,
            books,
            views,
            with.nodePods(),
            with.shim(),
            with.libraries(),
            success,
            startUp,
            kubelet,
            new Stranded(failure::unseen),
            with.bus(),
            with.clock(),
            nanoTime);
    this.devices = DeviceList.slots(with.inventory(), config.numaHints());
    Admission admission =
        new Admission(
            config.node(),
            config.callLimit(),
            books,
            views,
            resolver,
            containerFiles,
            new AllocateResponses(
                new AllocateResponses.Host(
                    config.hostLibrary(), config.hostPreload(), config.hostRegistry()),
                with.inventory(),
                with.injection()),
            new MpsClients(with.partitions(), with.events(), with.meters()),
            with.filter(),
            success,
            failure,
            startUp,
            kubelet,
            with.bus(),
            with.clock(),
            nanoTime);
    this.streams = new OpenStreams();
    FirstLook look =
        new FirstLook(
            () -> startUp.noteWhoWaits(Deadline.in(NOTE_LIMIT, nanoTime)), LIST_WAITS, threads);
    this.socket =
        new KubeletSocket(
            transport,
            config.pluginDir().resolve(config.endpoint()),
            List.of(
                new DevicePluginService(
                    admission,
                    devices,
                    streams,
                    look::await,
                    this::listed,
                    with.meters(),
                    nanoTime)),
            threads);
    this.registrar =
        new KubeletRegistrar(
            transport,
            socket,
            config.pluginDir().resolve("kubelet.sock"),
            names.vgpuNumber(),
            KubeletRegistrar.options(),
            streams,
            look::begin,
            with.registered(),
            nanoTime,
            with.meters());
    Gauge.builder("vgpu.allocations", books, b -> b.ledger().standing().size())
        .description("pods that hold devices by the agent's own notes")
        .register(with.meters());
  }

  /**
   * Succeeds when notes and files are in order and registration is under way. While another agent
   * serves this node it waits, prepared (docs/adr/0022): nothing is written. {@code ours} runs when
   * it is our turn; when we are stopped before that, it does not, and the future succeeds.
   */
  public Future<?> start(Runnable ours) {
    Promise<Optional<Tenure.Begun>> turn = Promise.promise();
    threads.execute(
        () -> {
          try {
            turn.complete(awaitTurn());
          } catch (IOException e) {
            turn.fail(e);
          }
        });
    return turn.future()
        .compose(begun -> begun.map(b -> begin(b, ours)).orElseGet(Future::succeededFuture));
  }

  private Future<Void> begin(Tenure.Begun begun, Runnable ours) {
    return checkpoint
        .load()
        .compose(
            ledger -> {
              books.open(ledger);
              log.info("notes read [pods: {}]", ledger.pods().size());
              return onThread(
                  () -> {
                    restoreLibrary();
                    ours.run();
                    if (begun.isHandedOver()) {
                      takeOver(begun);
                    } else {
                      restore();
                      serve();
                    }
                  });
            });
  }

  private void restoreLibrary() {
    try {
      with.libraries().restore();
    } catch (IOException e) {
      log.error("containers cannot start: their library is not there [cause: {}]", e.toString());
    }
  }

  /** What would cost time in the gap is done now: socket, classes, connections. */
  private void prepare() {
    Path own;
    try {
      own = socket.prepare();
    } catch (IOException e) {
      log.debug("no kubelet here yet [cause: {}]", e.toString());
      return;
    }
    ManagedChannel channel = transport.channel(own);
    try {
      Iterator<ListAndWatchResponse> list =
          DevicePluginGrpc.newBlockingStub(channel)
              .withDeadlineAfter(PREPARE_LIMIT.toNanos(), TimeUnit.NANOSECONDS)
              .listAndWatch(Empty.getDefaultInstance());
      log.debug("prepared [devices: {}]", list.next().getDevicesCount());
    } catch (StatusRuntimeException e) {
      log.warn("own socket does not answer [socket: {}, cause: {}]", own, e.getStatus());
    } finally {
      channel.shutdownNow();
    }
    if (views.look(Deadline.in(NOTE_LIMIT, with.nanoTime()))
        instanceof Outcome.Refused<PodView> r) {
      log.debug("the kubelet does not answer yet [cause: {}]", r.detail());
    }
  }

  private void standBy() {
    prepare();
    standsBy = true;
    log.info("another agent serves this node: prepared, waiting for its end");
  }

  private Optional<Tenure.Begun> awaitTurn() throws IOException {
    Optional<Tenure.Begun> begun = tenure.await(this::standBy);
    while (begun.isPresent() && !ending && socket.isAnotherServing()) {
      if (!standsBy) { // of a version that knows no tenure
        standBy();
      }
      LockSupport.parkNanos(OLD_AGENT_LOOK.toNanos());
    }
    standsBy = false;
    return ending ? Optional.empty() : begun;
  }

  /** Everything was left in order just now: the kubelet first, the files of each pod after it. */
  private void takeOver(Tenure.Begun how) {
    gapBegan.set(how.servedUntil());
    serve();
    startUp.takeOverFiles(config.callLimit(), with.nanoTime());
  }

  private void listed() {
    gapBegan
        .getAndSet(OptionalLong.empty())
        .ifPresent(
            since ->
                log.info(
                    "took over [gap: {} us]",
                    TimeUnit.NANOSECONDS.toMicros(with.nanoTime().getAsLong() - since)));
  }

  private void restore() {
    Deadline deadline = Deadline.in(config.startLimit(), with.nanoTime());
    Outcome<Boolean> done =
        books.alone(
            deadline,
            d -> {
              do {
                startUp.lookAround(d);
              } while (!startUp.hasLooked() && !d.passed());
              // never cut short by a slow look: the kubelet does not ask again for what runs
              startUp.restoreFiles(Deadline.in(RESTORE_LIMIT, with.nanoTime()));
              return Outcome.given(true);
            });
    if (done instanceof Outcome.Refused<Boolean> r) {
      log.warn("the node was not looked at before the start [cause: {}]", r.text());
    }
  }

  private void serve() {
    inOrder = true;
    subscriptions.add(with.bus().on(EventTypes.GPU_HEALTH_CHANGED, e -> devices.changed()));
    subscriptions.add(with.bus().on(EventTypes.GPU_INVENTORY_CHANGED, e -> devices.changed()));
    reconciler.start();
    if (served()) {
      registrar.start();
    } else {
      log.info("no slots of cards to offer [resource: {}]", with.names().vgpuNumber());
    }
  }

  /**
   * Ends serving; notes, files and node metadata stay as they are. What is under way is finished
   * first, then nothing is written any more, then the kubelet is let go, and then the next agent
   * may: it is waiting, and until it serves nothing is admitted. {@code others} ends whatever else
   * serves the kubelet.
   */
  public Future<?> stop(Runnable others) {
    ending = true;
    if (!tenure.isHeld()) {
      tenure.close(); // ends the waiting for it
    }
    return onThread(
        () -> {
          registrar.stop();
          reconciler.stop();
          if (tenure.isHeld()) {
            finish();
          }
          others.run();
          long until = with.nanoTime().getAsLong();
          socket.close();
          yieldAt(until);
          podResources.close();
          transport.close();
          subscriptions.forEach(
              s ->
                  s.end()
                      .onFailure(t -> log.debug("subscription stays [cause: {}]", t.toString())));
          threads.shutdown();
        });
  }

  private void finish() {
    if (!books.close(Deadline.in(config.callLimit(), with.nanoTime()))) {
      log.warn("an answer to the kubelet is cut off");
    }
    // a caller that was interrupted may have left its work in the lane: nothing is written later
    Future<Boolean> written = with.files().call(() -> true);
    if (Deadline.in(LET_GO_LIMIT, with.nanoTime())
            .await(
                with.shim().letGo().compose(v -> written),
                Reason.FILES_NOT_WRITTEN,
                "unmapping the regions")
        instanceof Outcome.Refused<Boolean> r) {
      log.warn("files or regions are not let go [cause: {}]", r.detail());
    }
  }

  private void yieldAt(long servedUntil) {
    try {
      tenure.end(servedUntil);
    } catch (IOException e) {
      log.warn("the next agent is not told that all is in order [cause: {}]", e.toString());
      tenure.close();
    }
  }

  private Future<Void> onThread(Runnable work) {
    Promise<Void> done = Promise.promise();
    threads.execute(
        () -> {
          try {
            work.run();
            done.complete();
          } catch (RuntimeException e) {
            done.fail(e);
          }
        });
    return done.future();
  }

  private boolean served() {
    return config.served() && !devices.isEmpty();
  }

  /** Whether another agent serves this node, and we are prepared. */
  public boolean standsBy() {
    return standsBy;
  }

  /** A pod ceased to exist: what it held is given up soon. Any thread. */
  public void podGone() {
    reconciler.look();
  }

  /**
   * What is still waited for before pods can be served; empty when ready. Beside another agent that
   * serves, prepared is ready: an update ends the other one only then.
   */
  public List<String> missing() {
    List<String> missing = new ArrayList<>();
    if (!inOrder && !standsBy) {
      missing.add("allocations restored");
    }
    if (!with.nodePods().synced()) {
      missing.add("pods of the node listed");
    }
    if (served() && !standsBy && !streams.any()) {
      missing.add("registered with the kubelet");
    }
    return missing;
  }
}
