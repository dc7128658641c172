package io.vgpu.agent.kubelet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.grpc.CallOptions;
import io.grpc.Context;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.ServerInterceptors;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.netty.InternalNettyChannelBuilder;
import io.grpc.netty.NettyChannelBuilder;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import io.netty.channel.epoll.EpollDomainSocketChannel;
import io.netty.channel.unix.DomainSocketAddress;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpClientOptions;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpVersion;
import io.vertx.core.http.RequestOptions;
import io.vertx.core.net.SocketAddress;
import io.vertx.grpc.client.GrpcClient;
import io.vertx.grpc.common.GrpcMessageDecoder;
import io.vertx.grpc.common.GrpcMessageEncoder;
import io.vertx.grpc.common.ServiceMethod;
import io.vertx.grpc.common.ServiceName;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import k8s.deviceplugin.v1beta1.AllocateRequest;
import k8s.deviceplugin.v1beta1.AllocateResponse;
import k8s.deviceplugin.v1beta1.DevicePluginGrpc;
import k8s.deviceplugin.v1beta1.DevicePluginOptions;
import k8s.deviceplugin.v1beta1.Empty;
import k8s.deviceplugin.v1beta1.ListAndWatchResponse;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The contract of the transport (docs/adr/0002): every kubelet is served, cancels and failures
 * arrive.
 */
class KubeletSocketTest {
  private static final long BOUND = 10;

  @TempDir Path dir;
  private final ExecutorService executor = Executors.newVirtualThreadPerTaskExecutor();
  private final KubeletTransport transport = new KubeletTransport();
  private final Vertx vertx = Vertx.vertx(new VertxOptions().setPreferNativeTransport(true));
  private final Plugin plugin = new Plugin();
  private Path path;
  private KubeletSocket socket;

  @BeforeEach
  void listen() throws Exception {
    path = dir.resolve("plugin.sock");
    socket =
        new KubeletSocket(
            transport, path, List.of(() -> ServerInterceptors.intercept(plugin, plugin)), executor);
    socket.listen();
  }

  @AfterEach
  void end() throws Exception {
    socket.close();
    vertx.close().toCompletionStage().toCompletableFuture().get(BOUND, TimeUnit.SECONDS);
    transport.close();
    executor.shutdownNow();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "localhost",
        "%2Fvar%2Flib%2Fkubelet%2Fdevice-plugins%2Fplugin.sock",
        "/var/lib/kubelet/device-plugins/plugin.sock"
      })
  void servesEveryAuthorityOfGrpcJava(String authority) {
    NettyChannelBuilder builder =
        NettyChannelBuilder.forAddress(new DomainSocketAddress(path.toString()))
            .eventLoopGroup(transport.group())
            .channelType(EpollDomainSocketChannel.class)
            .usePlaintext();
    InternalNettyChannelBuilder.disableCheckAuthority(builder);
    ManagedChannel channel = builder.overrideAuthority(authority).build();
    try {
      assertThat(blocking(channel).getDevicePluginOptions(Empty.getDefaultInstance()))
          .isEqualTo(KubeletRegistrar.options());
      assertThat(plugin.authority.get()).isEqualTo(authority);
    } finally {
      channel.shutdownNow();
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "localhost",
        "%2Fvar%2Flib%2Fkubelet%2Fdevice-plugins%2Fplugin.sock",
        "/var/lib/kubelet/device-plugins/plugin.sock"
      })
  void servesEveryAuthorityOfVertx(String authority) throws Exception {
    var client =
        vertx.createHttpClient(
            new HttpClientOptions()
                .setProtocolVersion(HttpVersion.HTTP_2)
                .setHttp2ClearTextUpgrade(false));
    byte[] body =
        client
            .request(
                new RequestOptions()
                    .setServer(SocketAddress.domainSocketAddress(path.toString()))
                    .setMethod(HttpMethod.POST)
                    .setHost(authority)
                    .setPort(80)
                    .setURI("/v1beta1.DevicePlugin/GetDevicePluginOptions"))
            .compose(
                request -> {
                  request.putHeader("content-type", "application/grpc").putHeader("te", "trailers");
                  return request.send(Buffer.buffer(new byte[5]));
                })
            .compose(response -> response.body())
            .toCompletionStage()
            .toCompletableFuture()
            .get(BOUND, TimeUnit.SECONDS)
            .getBytes();
    assertThat(DevicePluginOptions.parseFrom(java.util.Arrays.copyOfRange(body, 5, body.length)))
        .isEqualTo(KubeletRegistrar.options());
    assertThat(plugin.authority.get()).startsWith(authority);
    assertThat(client.close().toCompletionStage().toCompletableFuture())
        .succeedsWithin(java.time.Duration.ofSeconds(BOUND));
  }

  @Test
  void servesTheGrpcClientOfVertx() throws Exception {
    ServiceMethod<DevicePluginOptions, Empty> method =
        ServiceMethod.client(
            ServiceName.create("v1beta1", "DevicePlugin"),
            "GetDevicePluginOptions",
            GrpcMessageEncoder.encoder(),
            GrpcMessageDecoder.decoder(DevicePluginOptions.newBuilder()));
    GrpcClient client = GrpcClient.client(vertx);
    DevicePluginOptions options =
        client
            .request(SocketAddress.domainSocketAddress(path.toString()), method)
            .compose(
                request -> {
                  request.end(Empty.getDefaultInstance());
                  return request.response().compose(response -> response.last());
                })
            .toCompletionStage()
            .toCompletableFuture()
            .get(BOUND, TimeUnit.SECONDS);
    assertThat(options).isEqualTo(KubeletRegistrar.options());
    client.close();
  }

  @Test
  void cancelReachesUsAndAWriteAfterItDoesNoHarm() throws Exception {
    ManagedChannel channel = transport.channel(path);
    Context.CancellableContext caller = Context.current().withCancellation();
    BlockingQueue<Integer> sizes = new ArrayBlockingQueue<>(8);
    caller.run(
        () ->
            DevicePluginGrpc.newStub(channel)
                .listAndWatch(
                    Empty.getDefaultInstance(),
                    observer(r -> sizes.add(r.getDevicesCount()), new CompletableFuture<>())));
    assertThat(sizes.poll(BOUND, TimeUnit.SECONDS)).isZero();
    caller.cancel(null);
    assertThat(plugin.cancelled.await(BOUND, TimeUnit.SECONDS)).isTrue();
    plugin.stream.join().onNext(ListAndWatchResponse.getDefaultInstance());
    assertThat(blocking(channel).getDevicePluginOptions(Empty.getDefaultInstance()))
        .isEqualTo(KubeletRegistrar.options());
    channel.shutdownNow();
  }

  @Test
  void failuresOfUnaryCallsCarryStatusAndText() {
    ManagedChannel channel = transport.channel(path);
    assertThatThrownBy(() -> blocking(channel).allocate(AllocateRequest.getDefaultInstance()))
        .isInstanceOfSatisfying(
            StatusRuntimeException.class,
            e -> {
              assertThat(e.getStatus().getCode()).isEqualTo(Status.Code.UNKNOWN);
              assertThat(e.getStatus().getDescription()).isEqualTo("Allocate check failed: why");
            });
    channel.shutdownNow();
  }

  @Test
  void failuresOfStreamsCarryStatusAndText() {
    ManagedChannel channel = transport.channel(path);
    CompletableFuture<Throwable> failure = new CompletableFuture<>();
    ClientCalls.asyncServerStreamingCall(
        channel.newCall(
            DevicePluginGrpc.getListAndWatchMethod(),
            CallOptions.DEFAULT.withDeadlineAfter(BOUND, TimeUnit.SECONDS)),
        Empty.getDefaultInstance(),
        observer(
            r -> plugin.stream.join().onError(Status.ABORTED.withDescription("over").asException()),
            failure));
    assertThat(failure)
        .succeedsWithin(java.time.Duration.ofSeconds(BOUND))
        .satisfies(t -> assertThat(Status.fromThrowable(t).toString()).contains("ABORTED", "over"));
    channel.shutdownNow();
  }

  @Test
  void onlyTheOwnerMayConnectAndNoHalfMadeNameStays() throws Exception {
    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(path)))
        .isEqualTo("rw-------");
    try (var files = Files.list(dir)) {
      assertThat(files).containsExactly(path);
    }
  }

  @Test
  void takesOverTheFileOfAKilledProcess() throws Exception {
    Path stale = dir.resolve("stale.sock");
    // what a process killed with -9 leaves: a socket file that nobody listens on
    try (var channel =
        java.nio.channels.ServerSocketChannel.open(java.net.StandardProtocolFamily.UNIX)) {
      channel.bind(java.net.UnixDomainSocketAddress.of(stale));
    }
    KubeletSocket second = new KubeletSocket(transport, stale, List.of(plugin), executor);
    second.listen();
    ManagedChannel channel = transport.channel(stale);
    assertThat(blocking(channel).getDevicePluginOptions(Empty.getDefaultInstance()))
        .isEqualTo(KubeletRegistrar.options());
    channel.shutdownNow();
    second.close();
    assertThat(stale).doesNotExist();
  }

  @Test
  void knowsWhenTheKubeletRemovedOrReplacedItsFile() throws Exception {
    assertThat(socket.isPublished()).isTrue();
    Files.delete(path);
    assertThat(socket.isPublished()).isFalse();
    Files.createFile(path);
    assertThat(socket.isPublished()).isFalse();
    socket.close();
    assertThat(path).as("a file that is not ours stays").exists();
  }

  private static DevicePluginGrpc.DevicePluginBlockingStub blocking(ManagedChannel channel) {
    return DevicePluginGrpc.newBlockingStub(channel).withDeadlineAfter(BOUND, TimeUnit.SECONDS);
  }

  private static StreamObserver<ListAndWatchResponse> observer(
      java.util.function.Consumer<ListAndWatchResponse> onNext, CompletableFuture<Throwable> end) {
    return new StreamObserver<>() {
      @Override
      public void onNext(ListAndWatchResponse value) {
        onNext.accept(value);
      }

      @Override
      public void onError(Throwable t) {
        end.complete(t);
      }

      @Override
      public void onCompleted() {
        end.complete(new IllegalStateException("completed"));
      }
    };
  }

  /** A plugin that notes what reaches it. */
  private static final class Plugin extends DevicePluginGrpc.DevicePluginImplBase
      implements ServerInterceptor {
    final AtomicReference<String> authority = new AtomicReference<>("");
    final CompletableFuture<StreamObserver<ListAndWatchResponse>> stream =
        new CompletableFuture<>();
    final CountDownLatch cancelled = new CountDownLatch(1);

    @Override
    public <Q, A> ServerCall.Listener<Q> interceptCall(
        ServerCall<Q, A> call, Metadata headers, ServerCallHandler<Q, A> next) {
      authority.set(String.valueOf(call.getAuthority()));
      return next.startCall(call, headers);
    }

    @Override
    public void getDevicePluginOptions(
        Empty request, StreamObserver<DevicePluginOptions> observer) {
      observer.onNext(KubeletRegistrar.options());
      observer.onCompleted();
    }

    @Override
    public void allocate(AllocateRequest request, StreamObserver<AllocateResponse> observer) {
      observer.onError(Status.UNKNOWN.withDescription("Allocate check failed: why").asException());
    }

    @Override
    public void listAndWatch(Empty request, StreamObserver<ListAndWatchResponse> observer) {
      ((ServerCallStreamObserver<ListAndWatchResponse>) observer)
          .setOnCancelHandler(cancelled::countDown);
      stream.complete(observer);
      observer.onNext(ListAndWatchResponse.getDefaultInstance());
    }
  }
}
