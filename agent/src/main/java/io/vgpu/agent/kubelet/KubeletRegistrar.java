package io.vgpu.agent.kubelet;

import io.grpc.ManagedChannel;
import io.micrometer.core.instrument.MeterRegistry;
import io.vgpu.agent.metrics.AgentMeters;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.LongSupplier;
import k8s.deviceplugin.v1beta1.DevicePluginOptions;
import k8s.deviceplugin.v1beta1.Empty;
import k8s.deviceplugin.v1beta1.RegisterRequest;
import k8s.deviceplugin.v1beta1.RegistrationGrpc;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps one plugin registered with whichever kubelet runs (node-agent.md 2.2, identity-facts.md 3).
 *
 * <p>It looks at what is, every 200 ms, every 5 ms while nobody watches us, and whenever a
 * ListAndWatch stream opens or ends: is our socket file still there (the kubelet removes all at its
 * start, possibly after we bound), is {@code kubelet.sock} the one we registered at, does anybody
 * watch us. While a stream is open nothing is registered: the kubelet would disconnect the new
 * client when the old stream ends (D22). Runs on a virtual thread of its own; every pause is
 * bounded.
 */
public final class KubeletRegistrar {
  private static final Logger log = LoggerFactory.getLogger(KubeletRegistrar.class);
  private static final Duration LOOK = Duration.ofMillis(200);

  /**
   * While nobody watches us: a kubelet that starts without its checkpoint starts containers without
   * their devices until the resource is registered.
   */
  private static final Duration QUICK = Duration.ofMillis(5);

  private static final Duration PAUSE_MAX = Duration.ofMillis(200);
  private static final Duration CALL_MAX = Duration.ofSeconds(5);

  /** How long a registered plugin may stay without a stream before it registers again. */
  private static final Duration UNWATCHED_MAX = Duration.ofSeconds(5);

  private enum Result {
    REGISTERED,
    SOCKET_GONE,
    FAILED
  }

  private final KubeletTransport transport;
  private final KubeletSocket socket;
  private final Path kubeletSocket;
  private final String resource;
  private final DevicePluginOptions options;
  private final OpenStreams streams;
  private final Runnable beforeRegister;
  private final Runnable registered;
  private final LongSupplier nanoTime;
  private final MeterRegistry meters;
  private final Semaphore news = new Semaphore(0);

  // guarded by this
  private @Nullable SocketFile registeredAt;
  private long registeredNanos;

  // of the registrar's thread
  private volatile boolean stopped;
  private @Nullable Thread thread;
  private Duration pause = Duration.ZERO;
  private long notBefore;
  private @Nullable SocketFile triedAt;

  /**
   * @param kubeletSocket the kubelet's registration socket, {@code kubelet.sock}
   * @param options sent with the registration, and to be answered by the service alike: some
   *     kubelets trust these and never ask (weakness 13-15)
   * @param beforeRegister runs before each try, while the kubelet cannot ask us; must not block
   * @param registered runs after each registration; must not block
   */
  public KubeletRegistrar(
      KubeletTransport transport,
      KubeletSocket socket,
      Path kubeletSocket,
      String resource,
      DevicePluginOptions options,
      OpenStreams streams,
      Runnable beforeRegister,
      Runnable registered,
      LongSupplier nanoTime,
      MeterRegistry meters) {
    this.transport = transport;
    this.socket = socket;
    this.kubeletSocket = kubeletSocket;
    this.resource = resource;
    this.options = options;
    this.streams = streams;
    this.beforeRegister = beforeRegister;
    this.registered = registered;
    this.nanoTime = nanoTime;
    this.meters = meters;
    streams.whenNoneLeft(this::unwatched);
  }

  /** Starts; the socket is bound and registered from now on. Once. */
  public void start() {
    notBefore = nanoTime.getAsLong();
    thread = Thread.ofVirtual().name("kubelet-registrar").start(this::run);
  }

  /** Ends within a second; the socket stays as it is. */
  public void stop() {
    stopped = true;
    news.release();
    Thread running = thread;
    if (running != null) {
      running.interrupt();
      try {
        running.join(Duration.ofSeconds(1));
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /** The last stream ended: register again at once. */
  private void unwatched() {
    synchronized (this) {
      registeredAt = null;
    }
    news.release();
  }

  private void run() {
    while (!stopped) {
      look();
      try {
        Duration next = streams.any() ? LOOK : QUICK;
        if (news.tryAcquire(next.toNanos(), TimeUnit.NANOSECONDS)) {
          news.drainPermits();
        }
      } catch (InterruptedException e) {
        return;
      }
    }
  }

  private void look() {
    if (!socket.isPublished() && !listenAgain()) {
      return;
    }
    if (streams.any()) {
      return; // the commonest case, and nothing else is to be seen to
    }
    SocketFile kubelet = SocketFile.of(kubeletSocket);
    if (kubelet == null || !wanted(kubelet)) {
      return;
    }
    long now = nanoTime.getAsLong();
    if (kubelet.equals(triedAt) && now - notBefore < 0) {
      return; // backing off from this very socket
    }
    beforeRegister.run();
    Result result = socket.isPublished() ? register() : Result.SOCKET_GONE;
    AgentMeters.REGISTRATIONS
        .counter(meters, result == Result.REGISTERED ? "ok" : "failed")
        .increment();
    switch (result) {
      case REGISTERED -> {
        pause = Duration.ZERO;
        triedAt = null;
        synchronized (this) {
          registeredAt = kubelet;
          registeredNanos = nanoTime.getAsLong();
        }
        log.info("registered [resource: {}, endpoint: {}]", resource, socket.endpoint());
        registered.run();
      }
      case SOCKET_GONE -> news.release(); // listen again at once
      case FAILED -> {
        triedAt = kubelet;
        pause = pause.isZero() ? QUICK : min(pause.multipliedBy(2), PAUSE_MAX);
        notBefore = nanoTime.getAsLong() + pause.toNanos();
      }
    }
  }

  private synchronized boolean wanted(SocketFile kubelet) {
    if (streams.any()) {
      return false;
    }
    boolean unwatched =
        registeredAt != null && nanoTime.getAsLong() - registeredNanos > UNWATCHED_MAX.toNanos();
    return unwatched || !kubelet.equals(registeredAt);
  }

  private boolean listenAgain() {
    try {
      socket.listen();
      synchronized (this) {
        registeredAt = null;
      }
      return true;
    } catch (IOException e) {
      log.warn("cannot listen for the kubelet, trying again [cause: {}]", e.toString());
      return false;
    }
  }

  /**
   * The kubelet dials us back before it answers, and tries for seconds when our file is not there;
   * it may have removed the file just now. So the file is watched while the call is under way.
   */
  private Result register() {
    ManagedChannel channel = transport.channel(kubeletSocket);
    try {
      Future<Empty> answer =
          RegistrationGrpc.newFutureStub(channel)
              .withDeadlineAfter(CALL_MAX.toNanos(), TimeUnit.NANOSECONDS)
              .register(
                  RegisterRequest.newBuilder()
                      .setVersion("v1beta1")
                      .setEndpoint(socket.endpoint())
                      .setResourceName(resource)
                      .setOptions(options)
                      .build());
      while (socket.isPublished()) {
        try {
          var unused = answer.get(QUICK.toNanos(), TimeUnit.NANOSECONDS);
          return Result.REGISTERED;
        } catch (TimeoutException e) {
          log.trace("registration under way");
        }
      }
      answer.cancel(true);
      return Result.SOCKET_GONE;
    } catch (ExecutionException e) {
      log.debug("not registered yet [cause: {}]", String.valueOf(e.getCause()));
      return Result.FAILED;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return Result.FAILED;
    } finally {
      channel.shutdownNow();
    }
  }

  /** What {@code vgpu-number} wants: always the preferred allocation (D3), and before starts. */
  public static DevicePluginOptions options() {
    return DevicePluginOptions.newBuilder()
        .setPreStartRequired(true)
        .setGetPreferredAllocationAvailable(true)
        .build();
  }

  private static Duration min(Duration a, Duration b) {
    return a.compareTo(b) <= 0 ? a : b;
  }
}
