package io.vgpu.agent.kubelet;

import io.grpc.Context;
import io.grpc.ManagedChannel;
import io.grpc.Server;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.netty.InternalNettyChannelBuilder;
import io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.NettyServerBuilder;
import io.grpc.stub.StreamObserver;
import io.netty.channel.epoll.EpollDomainSocketChannel;
import io.netty.channel.epoll.EpollServerDomainSocketChannel;
import io.netty.channel.unix.DomainSocketAddress;
import io.vgpu.model.ContainerDemand;
import io.vgpu.model.ContainerKind;
import io.vgpu.model.PodDemand;
import io.vgpu.model.PodRef;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import k8s.deviceplugin.v1beta1.AllocateRequest;
import k8s.deviceplugin.v1beta1.ContainerAllocateRequest;
import k8s.deviceplugin.v1beta1.ContainerAllocateResponse;
import k8s.deviceplugin.v1beta1.ContainerPreferredAllocationRequest;
import k8s.deviceplugin.v1beta1.Device;
import k8s.deviceplugin.v1beta1.DevicePluginGrpc;
import k8s.deviceplugin.v1beta1.DevicePluginOptions;
import k8s.deviceplugin.v1beta1.Empty;
import k8s.deviceplugin.v1beta1.ListAndWatchResponse;
import k8s.deviceplugin.v1beta1.PreStartContainerRequest;
import k8s.deviceplugin.v1beta1.PreferredAllocationRequest;
import k8s.deviceplugin.v1beta1.RegisterRequest;
import k8s.deviceplugin.v1beta1.RegistrationGrpc;
import k8s.podresources.v1.ContainerDevices;
import k8s.podresources.v1.ContainerResources;
import k8s.podresources.v1.ListPodResourcesRequest;
import k8s.podresources.v1.ListPodResourcesResponse;
import k8s.podresources.v1.PodResources;
import k8s.podresources.v1.PodResourcesListerGrpc;
import org.jspecify.annotations.Nullable;

/**
 * A kubelet's device manager as measured (identity-facts.md): registration, serial admission with
 * reuse of init containers' ids, preferred allocation, pod-resources, a checkpoint that can be
 * lost, restarts that remove every socket. Dials the plugin with a path as authority.
 */
public final class FakeKubelet implements AutoCloseable {
  private static final long BOUND = 30;

  /** How an admission ended. */
  public sealed interface Result {
    /** All containers have devices; the plugin's answers by container. */
    record Admitted(Map<String, ContainerAllocateResponse> answers) implements Result {}

    /** Phase Failed, reason UnexpectedAdmissionError. */
    record Rejected(String message) implements Result {}
  }

  /** A pod in the kubelet's pod manager. */
  public record Known(PodRef ref, PodDemand demand) {}

  private final Path dir;
  private final String resource;
  private final KubeletTransport transport = new KubeletTransport();
  private final Random random;
  private final BlockingQueue<RegisterRequest> registrations = new ArrayBlockingQueue<>(64);
  private final BlockingQueue<Map<String, String>> lists = new ArrayBlockingQueue<>(64);
  private final Map<String, Known> pods = new LinkedHashMap<>();
  private final Map<String, Map<String, Set<String>>> devices = new LinkedHashMap<>();
  private volatile Map<String, String> offered = Map.of();
  private @Nullable Server server;
  private @Nullable Server podResources;
  private @Nullable ManagedChannel plugin;
  private @Nullable Watcher watcher;
  private long withdrawnNanos;
  private int rateLimited;

  /** Containers, as uid/name, that the runtime showed running when the kubelet started. */
  public final Set<String> running = new LinkedHashSet<>();

  /** The last preferred-allocation requests, oldest first. */
  public final List<ContainerPreferredAllocationRequest> asked = new ArrayList<>();

  /** How long each answered Allocate took, oldest first. */
  public final List<Long> allocateNs = new ArrayList<>();

  /** {@code dir} becomes the device-plugins folder and holds the pod-resources socket beside it. */
  public FakeKubelet(Path dir, String resource, long seed) {
    this.dir = dir;
    this.resource = resource;
    this.random = new Random(seed);
  }

  public Path pluginDir() {
    return dir.resolve("device-plugins");
  }

  public Path podResourcesSocket() {
    return dir.resolve("pod-resources.sock");
  }

  /** Starts as a kubelet does: every socket in the folder goes, kubelet.sock comes. */
  public void start() throws IOException {
    Files.createDirectories(pluginDir());
    try (var files = Files.list(pluginDir())) {
      for (Path f : files.toList()) {
        Files.delete(f);
      }
    }
    server = serve(pluginDir().resolve("kubelet.sock"), new Registration());
    Files.deleteIfExists(podResourcesSocket());
    podResources = serve(podResourcesSocket(), new Lister());
  }

  private Server serve(Path socket, io.grpc.BindableService service) throws IOException {
    return NettyServerBuilder.forAddress(new DomainSocketAddress(socket.toString()))
        .bossEventLoopGroup(transport.group())
        .workerEventLoopGroup(transport.group())
        .channelType(EpollServerDomainSocketChannel.class)
        .addService(service)
        .build()
        .start();
  }

  /** Stops as kill -9 does: streams end, the socket file stays. */
  public void kill() throws Exception {
    Path socket = pluginDir().resolve("kubelet.sock");
    disconnect();
    for (Server s : List.of(running(server), running(podResources))) {
      s.shutdownNow().awaitTermination(BOUND, TimeUnit.SECONDS);
    }
    Files.deleteIfExists(socket);
    Files.createFile(socket);
  }

  private static Server running(@Nullable Server server) {
    if (server == null) {
      throw new IllegalStateException("the kubelet is not running");
    }
    return server;
  }

  private synchronized void disconnect() {
    Watcher current = watcher;
    watcher = null;
    if (current != null) {
      current.context.cancel(null);
    }
    if (plugin != null) {
      plugin.shutdownNow();
    }
    plugin = null;
    withdraw();
  }

  private void withdraw() {
    if (!offered.isEmpty()) {
      withdrawnNanos = System.nanoTime();
    }
    offered = Map.of();
  }

  /** For how long nothing was offered, when something was offered again; all such times. */
  public final Queue<Duration> gaps = new ConcurrentLinkedQueue<>();

  /** The kubelet's own checkpoint file is gone. */
  public synchronized void loseCheckpoint() {
    devices.clear();
  }

  /** Lets the next calls of List fail for the rate limit. */
  public synchronized void limitRate(int calls) {
    rateLimited = calls;
  }

  /** The next registration; fails when none comes in time. */
  public RegisterRequest nextRegistration() throws InterruptedException {
    return next(registrations, "registration");
  }

  /** The next list of devices, id to health; fails when none comes in time. */
  public Map<String, String> nextList() throws InterruptedException {
    return next(lists, "list of devices");
  }

  private static <T> T next(BlockingQueue<T> queue, String what) throws InterruptedException {
    T value = queue.poll(BOUND, TimeUnit.SECONDS);
    if (value == null) {
      throw new AssertionError("no " + what + " came in time");
    }
    return value;
  }

  private final class Registration extends RegistrationGrpc.RegistrationImplBase {
    @Override
    public void register(RegisterRequest request, StreamObserver<Empty> observer) {
      connect(request.getEndpoint());
      registrations.add(request);
      observer.onNext(Empty.getDefaultInstance());
      observer.onCompleted();
    }
  }

  /** An earlier client of the name is forgotten, but its stream goes on (D22). */
  private synchronized void connect(String endpoint) {
    Path socket = pluginDir().resolve(endpoint);
    NettyChannelBuilder builder =
        NettyChannelBuilder.forAddress(new DomainSocketAddress(socket.toString()))
            .eventLoopGroup(transport.group())
            .channelType(EpollDomainSocketChannel.class)
            .usePlaintext();
    InternalNettyChannelBuilder.disableCheckAuthority(builder);
    ManagedChannel channel = builder.overrideAuthority(socket.toString()).build();
    plugin = channel;
    Context.CancellableContext context = Context.ROOT.withCancellation();
    Watcher watching = new Watcher(context);
    watcher = watching;
    context.run(
        () -> DevicePluginGrpc.newStub(channel).listAndWatch(Empty.getDefaultInstance(), watching));
  }

  private final class Watcher implements StreamObserver<ListAndWatchResponse> {
    private final Context.CancellableContext context;

    Watcher(Context.CancellableContext context) {
      this.context = context;
    }

    @Override
    public void onNext(ListAndWatchResponse list) {
      synchronized (FakeKubelet.this) {
        if (watcher == this) {
          take(list);
        }
      }
    }

    private void take(ListAndWatchResponse list) {
      Map<String, String> now = new LinkedHashMap<>();
      for (Device d : list.getDevicesList()) {
        now.put(d.getID(), d.getHealth());
      }
      if (offered.isEmpty() && withdrawnNanos != 0) {
        gaps.add(Duration.ofNanos(System.nanoTime() - withdrawnNanos));
      }
      offered = now;
      lists.add(now);
    }

    @Override
    public void onError(Throwable t) {
      if (!context.isCancelled()) {
        disconnect(); // whoever holds the name now, as the kubelet does
      }
    }

    @Override
    public void onCompleted() {
      onError(new IllegalStateException("the plugin ended its stream"));
    }
  }

  /** The plugin's options, as the kubelet asks for them. */
  public DevicePluginOptions options() {
    return stub().getDevicePluginOptions(Empty.getDefaultInstance());
  }

  private synchronized DevicePluginGrpc.DevicePluginBlockingStub stub() {
    if (plugin == null) {
      throw Status.UNAVAILABLE.withDescription("no plugin").asRuntimeException();
    }
    return DevicePluginGrpc.newBlockingStub(plugin).withDeadlineAfter(BOUND, TimeUnit.SECONDS);
  }

  /** Admits a pod: adds it, then asks for each container in order; a rejected one holds nothing. */
  public Result admit(PodRef ref, PodDemand demand) {
    synchronized (this) {
      pods.put(ref.uid(), new Known(ref, demand));
    }
    Map<String, ContainerAllocateResponse> answers = new LinkedHashMap<>();
    Set<String> reuse = new LinkedHashSet<>();
    for (ContainerDemand c : demand.vgpuContainers()) {
      if (running.contains(ref.uid() + "/" + c.name())) {
        continue; // after a restart: "container detected running, no devices needed"
      }
      try {
        allocate(ref, c, reuse, answers);
      } catch (StatusRuntimeException e) {
        return reject(ref, String.valueOf(e.getStatus().getDescription()));
      }
      Set<String> got = held(ref.uid(), c.name());
      if (got.isEmpty()) {
        return reject(ref, "requested number of devices unavailable");
      }
      switch (c.kind()) {
        case INIT -> reuse.addAll(got);
        case SIDECAR, APP -> reuse.removeAll(got);
      }
    }
    return new Result.Admitted(answers);
  }

  private synchronized Result reject(PodRef ref, String message) {
    devices.remove(ref.uid());
    return new Result.Rejected(message);
  }

  private void allocate(
      PodRef ref,
      ContainerDemand c,
      Set<String> reuse,
      Map<String, ContainerAllocateResponse> answers) {
    int required = (int) c.number();
    if (held(ref.uid(), c.name()).size() == required) {
      return; // from the checkpoint
    }
    List<String> reusable = new ArrayList<>(reuse);
    Collections.shuffle(reusable, random);
    Set<String> chosen = new LinkedHashSet<>();
    reusable.stream().limit(required).forEach(chosen::add);
    if (chosen.size() < required) {
      List<String> available = available(reuse);
      if (available.size() < required) {
        return;
      }
      chosen = preferred(available, chosen, required);
    }
    AllocateRequest request =
        AllocateRequest.newBuilder()
            .addContainerRequests(ContainerAllocateRequest.newBuilder().addAllDevicesIds(chosen))
            .build();
    long before = System.nanoTime();
    answers.put(c.name(), stub().allocate(request).getContainerResponses(0));
    allocateNs.add(System.nanoTime() - before);
    synchronized (this) {
      devices.computeIfAbsent(ref.uid(), u -> new TreeMap<>()).put(c.name(), chosen);
    }
  }

  private Set<String> preferred(List<String> available, Set<String> must, int size) {
    ContainerPreferredAllocationRequest one =
        ContainerPreferredAllocationRequest.newBuilder()
            .addAllAvailableDeviceIDs(available)
            .addAllMustIncludeDeviceIDs(must)
            .setAllocationSize(size)
            .build();
    asked.add(one);
    List<String> ids =
        stub()
            .getPreferredAllocation(
                PreferredAllocationRequest.newBuilder().addContainerRequests(one).build())
            .getContainerResponses(0)
            .getDeviceIDsList();
    Set<String> chosen = new LinkedHashSet<>(ids);
    chosen.retainAll(available);
    if (chosen.size() < size) {
      // the kubelet picks by itself when the answer is empty or bad
      available.stream().limit(size).forEach(chosen::add);
    }
    return chosen;
  }

  private synchronized List<String> available(Set<String> reuse) {
    Set<String> used = new LinkedHashSet<>();
    devices.values().forEach(byContainer -> byContainer.values().forEach(used::addAll));
    used.removeAll(reuse);
    List<String> free = new ArrayList<>();
    offered.forEach(
        (id, health) -> {
          if (health.equals("Healthy") && !used.contains(id)) {
            free.add(id);
          }
        });
    Collections.shuffle(free, random);
    return free;
  }

  /** Allocates ids that nobody proposed, as when the kubelet picks by itself. */
  public String allocateUnasked(Collection<String> ids) {
    try {
      var unused =
          stub()
              .allocate(
                  AllocateRequest.newBuilder()
                      .addContainerRequests(
                          ContainerAllocateRequest.newBuilder().addAllDevicesIds(ids))
                      .build());
      return "";
    } catch (StatusRuntimeException e) {
      return String.valueOf(e.getStatus().getDescription());
    }
  }

  /** Asks only, as a kubelet that dies before it allocates. */
  public List<String> ask(PodRef ref, PodDemand demand, int size) {
    synchronized (this) {
      pods.put(ref.uid(), new Known(ref, demand));
    }
    return List.copyOf(preferred(available(Set.of()), Set.of(), size));
  }

  /** Asks before a container starts; the error's text, empty when it may start. */
  public String preStart(Collection<String> ids) {
    try {
      var unused =
          stub()
              .preStartContainer(
                  PreStartContainerRequest.newBuilder().addAllDevicesIds(ids).build());
      return "";
    } catch (StatusRuntimeException e) {
      return String.valueOf(e.getStatus().getDescription());
    }
  }

  /** The ids of a container by the kubelet's checkpoint. */
  public synchronized Set<String> held(String uid, String container) {
    return Set.copyOf(devices.getOrDefault(uid, Map.of()).getOrDefault(container, Set.of()));
  }

  /** Adds a pod without asking anybody: admitted while the resource was absent. */
  public synchronized void admitWithoutPlugin(PodRef ref, PodDemand demand) {
    pods.put(ref.uid(), new Known(ref, demand));
  }

  /** The pod is removed from the pod manager. */
  public synchronized void remove(String uid) {
    pods.remove(uid);
    devices.remove(uid);
  }

  /** The pod's containers are over: the kubelet gives their ids to others, the pod stays listed. */
  public synchronized void forget(String uid) {
    devices.remove(uid);
  }

  public synchronized List<Known> known() {
    return List.copyOf(pods.values());
  }

  private final class Lister extends PodResourcesListerGrpc.PodResourcesListerImplBase {
    @Override
    public void list(
        ListPodResourcesRequest request, StreamObserver<ListPodResourcesResponse> observer) {
      synchronized (FakeKubelet.this) {
        if (rateLimited > 0) {
          rateLimited--;
          observer.onError(
              Status.RESOURCE_EXHAUSTED.withDescription("rejected by rate limit").asException());
          return;
        }
      }
      observer.onNext(listed());
      observer.onCompleted();
    }
  }

  private synchronized ListPodResourcesResponse listed() {
    ListPodResourcesResponse.Builder all = ListPodResourcesResponse.newBuilder();
    for (Known pod : pods.values()) {
      PodResources.Builder p =
          PodResources.newBuilder().setNamespace(pod.ref().namespace()).setName(pod.ref().name());
      for (ContainerDemand c : pod.demand().containers()) {
        if (c.kind() != ContainerKind.INIT) {
          ContainerResources.Builder container = ContainerResources.newBuilder().setName(c.name());
          for (String id : held(pod.ref().uid(), c.name())) {
            container.addDevices(
                ContainerDevices.newBuilder().setResourceName(resource).addDeviceIds(id));
          }
          p.addContainers(container);
        }
      }
      all.addPodResources(p);
    }
    return all.build();
  }

  @Override
  public void close() {
    disconnect();
    if (server != null) {
      server.shutdownNow();
    }
    if (podResources != null) {
      podResources.shutdownNow();
    }
    transport.close();
  }
}
