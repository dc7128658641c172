package io.vgpu.agent.measure;

import io.micrometer.core.instrument.Tags;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpClientAgent;
import io.vertx.core.http.HttpMethod;
import io.vgpu.agent.gpu.CardSample;
import io.vgpu.agent.gpu.CardSamples;
import io.vgpu.agent.gpu.DeviceSelection;
import io.vgpu.agent.gpu.NodeGpus;
import io.vgpu.agent.measure.ContainerFigure.Seen;
import io.vgpu.agent.measure.Measured.CardLoad;
import io.vgpu.agent.metrics.CardSeries;
import io.vgpu.agent.metrics.MetricsPage;
import io.vgpu.agent.metrics.Series;
import io.vgpu.agent.shim.DeviceLimits;
import io.vgpu.agent.shim.DeviceLimits.Flag;
import io.vgpu.agent.testing.ContainersOnDisk;
import io.vgpu.agent.testing.FakeGpuDriver;
import io.vgpu.model.ContainerRef;
import io.vgpu.model.GpuUuid;
import io.vgpu.model.NodeConfig;
import io.vgpu.model.PodRef;
import io.vgpu.runtime.OpsVerticle;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/**
 * What a scrape takes at 8 cards and 80 containers: of one card each, and of all eight each. Its
 * text by itself (wall and thread's own time), and through the endpoint with gzip, as Prometheus
 * asks.
 */
public final class ScrapeBench {
  private static final int CARDS = 8;
  private static final int CONTAINERS = 80;
  private static final int WARM_UP = Integer.getInteger("bench.warmup", 300);
  private static final int SCRAPES = Integer.getInteger("bench.scrapes", 1000);
  private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

  private ScrapeBench() {}

  /** Measures; milliseconds. */
  public static JsonNode measure(JsonMapper json) throws Exception {
    ObjectNode all = json.createObjectNode();
    all.set("one_card_each", shape(json, 1));
    all.set("eight_cards_each", shape(json, CARDS));
    return all;
  }

  private static ObjectNode shape(JsonMapper json, int cardsEach) throws Exception {
    AtomicLong now = new AtomicLong(1_000_000_000_000L);
    PrometheusMeterRegistry meters = registry(now::get, cardsEach);
    ObjectNode report = json.createObjectNode();
    String text = meters.scrape();
    report.put("series", text.lines().filter(l -> !l.startsWith("#")).count());
    report.put("bytes", text.length());
    long[] wall = new long[SCRAPES];
    long[] cpu = new long[SCRAPES];
    for (int i = -WARM_UP; i < SCRAPES; i++) {
      long cpuBefore = THREADS.getCurrentThreadCpuTime();
      long before = System.nanoTime();
      meters.scrape();
      if (i >= 0) {
        wall[i] = System.nanoTime() - before;
        cpu[i] = THREADS.getCurrentThreadCpuTime() - cpuBefore;
      }
    }
    report.set("text_wall_ms", quantiles(json, wall));
    report.set("text_cpu_ms", quantiles(json, cpu));
    report.set("http_gzip_wall_ms", quantiles(json, http(meters)));
    return report;
  }

  private static long[] http(PrometheusMeterRegistry meters) throws Exception {
    Vertx vertx = Vertx.vertx();
    AtomicLong clock = new AtomicLong();
    int port;
    try (ServerSocket free = new ServerSocket(0)) {
      port = free.getLocalPort();
    }
    ContainersOnDisk.await(
        vertx.deployVerticle(
            new OpsVerticle(
                "127.0.0.1",
                port,
                // a second passes at each look at the clock: every scrape is made anew
                new MetricsPage(
                    meters,
                    Optional.empty(),
                    Duration.ofSeconds(1),
                    () -> clock.addAndGet(2_000_000_000L)),
                List::of,
                path -> Future.succeededFuture(Optional.empty()),
                Optional.empty())));
    HttpClientAgent client = vertx.createHttpClient();
    long[] wall = new long[SCRAPES];
    for (int i = -WARM_UP; i < SCRAPES; i++) {
      long before = System.nanoTime();
      ContainersOnDisk.await(
          client
              .request(HttpMethod.GET, port, "127.0.0.1", "/metrics")
              .compose(r -> r.putHeader("Accept-Encoding", "gzip").send())
              .compose(r -> r.body().map(Buffer::length)));
      if (i >= 0) {
        wall[i] = System.nanoTime() - before;
      }
    }
    ContainersOnDisk.await(vertx.close());
    return wall;
  }

  private static PrometheusMeterRegistry registry(LongSupplier now, int cardsEach) {
    FakeGpuDriver driver = new FakeGpuDriver(CARDS);
    CardSamples samples = new CardSamples();
    Map<GpuUuid, CardLoad> loads = new HashMap<>();
    driver
        .discover()
        .forEach(
            g -> {
              samples.put(new CardSample(g.uuid(), now.getAsLong(), 80, 1L << 34, g.memoryBytes()));
              loads.put(g.uuid(), new CardLoad(OptionalInt.of(800), 790, 1, false));
            });
    List<ContainerFigure> figures = new ArrayList<>();
    for (int i = 0; i < CONTAINERS; i++) {
      ContainerRef who =
          new ContainerRef(
              new PodRef("team-" + i % 7, "training-job-with-a-name-" + i, "uid-" + i), "main");
      for (int d = 0; d < cardsEach; d++) {
        figures.add(
            new ContainerFigure(
                who,
                d,
                new DeviceLimits(
                    FakeGpuDriver.uuid((i + d) % CARDS),
                    0,
                    132,
                    Set.of(Flag.COMPUTE_LIMIT, Flag.MEMORY_LIMIT),
                    1L << 32,
                    1L << 32,
                    100,
                    100),
                1_234_567_890L * i,
                Optional.of(
                    new Seen(
                        123_456_789L * i, 0, 1, OptionalLong.of(1L << 29), OptionalInt.of(97)))));
      }
    }
    Measurements measurements = new Measurements(now);
    measurements.put(new Measured(now.getAsLong(), figures, loads));
    NodeGpus gpus =
        new NodeGpus(
            driver.discover(),
            new NodeConfig(10, 1, 1, 1),
            Optional.empty(),
            DeviceSelection.parse(""));
    PrometheusMeterRegistry meters = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    meters.config().commonTags(Tags.of("service", Series.SERVICE));
    var registry = meters.getPrometheusRegistry();
    registry.register(new CardSeries("gpu-node-1", driver.info(), gpus, samples, now));
    registry.register(new ContainerSeries("gpu-node-1", gpus, measurements, c -> true, true));
    registry.register(new ReservedSeries("gpu-node-1", gpus, () -> Reservations.Reserved.NOTHING));
    return meters;
  }

  private static ObjectNode quantiles(JsonMapper json, long[] ns) {
    long[] sorted = ns.clone();
    Arrays.sort(sorted);
    ObjectNode q = json.createObjectNode();
    q.put("p50", ms(sorted[sorted.length / 2]));
    q.put("p99", ms(sorted[sorted.length * 99 / 100]));
    q.put("max", ms(sorted[sorted.length - 1]));
    return q;
  }

  private static double ms(long ns) {
    return Math.round(ns / 1e4) / 100.0;
  }
}
