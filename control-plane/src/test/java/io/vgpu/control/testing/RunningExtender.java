package io.vgpu.control.testing;

import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vgpu.claim.ClaimSeal;
import io.vgpu.claim.Names;
import io.vgpu.control.scheduler.ExtenderConfig;
import io.vgpu.control.scheduler.ExtenderGate;
import io.vgpu.control.scheduler.SchedulerExtender;
import io.vgpu.event.EventTypes;
import io.vgpu.event.VgpuEvent.PodPlaced;
import io.vgpu.event.wire.EventBusPort;
import io.vgpu.runtime.FeatureGates;
import java.io.IOException;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** A whole extender on loopback, against a fake API server. */
public final class RunningExtender implements AutoCloseable {
  private static final String KEY = "0123456789abcdef0123456789abcdef";

  private final Vertx vertx = Vertx.vertx();
  private final SchedulerExtender extender;
  private final int opsPort;
  private final SchedulerClient client;
  private final List<PodPlaced> placed = new CopyOnWriteArrayList<>();

  public RunningExtender(FakeApiServer api, Path folder, String gates) throws IOException {
    this(api, folder, gates, null);
  }

  public RunningExtender(
      FakeApiServer api, Path folder, String gates, ExtenderConfig.@Nullable Tls tls)
      throws IOException {
    this(api, folder, gates, tls, ExtenderConfig.Packing.USUAL);
  }

  public RunningExtender(
      FakeApiServer api,
      Path folder,
      String gates,
      ExtenderConfig.@Nullable Tls tls,
      ExtenderConfig.Packing packing)
      throws IOException {
    Path key = folder.resolve("claim.key");
    Files.writeString(key, KEY + "\n");
    opsPort = freePort();
    ExtenderConfig config =
        new ExtenderConfig(
            new ExtenderConfig.Api(null, api.url(), 100_000, 100_000, Duration.ofSeconds(5)),
            Names.DEFAULT,
            "vgpu-scheduler",
            new ExtenderConfig.Server("127.0.0.1", 0, "127.0.0.1", opsPort),
            tls,
            0,
            FeatureGates.parse(ExtenderGate.class, gates),
            key,
            packing);
    EventBusPort bus = new EventBusPort(vertx);
    bus.on(EventTypes.POD_PLACED, placed::add);
    extender = SchedulerExtender.of(vertx, config, bus);
    get(extender.start());
    get(extender.synced());
    client = new SchedulerClient(extender.port());
  }

  private static void get(Future<?> future) {
    future.toCompletionStage().toCompletableFuture().orTimeout(30, TimeUnit.SECONDS).join();
  }

  private static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0)) {
      return socket.getLocalPort();
    }
  }

  public static ClaimSeal seal() {
    return ClaimSeal.parse(KEY);
  }

  public SchedulerClient client() {
    return client;
  }

  public int port() {
    return extender.port();
  }

  public int opsPort() {
    return opsPort;
  }

  public List<PodPlaced> placed() {
    return placed;
  }

  @Override
  public void close() {
    client.close();
    get(extender.stop());
    get(vertx.close());
  }
}
