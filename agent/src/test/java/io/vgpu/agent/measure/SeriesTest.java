package io.vgpu.agent.measure;

import static io.vgpu.agent.testing.ContainersOnDisk.await;
import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.vertx.core.Vertx;
import io.vgpu.agent.gpu.CardSamples;
import io.vgpu.agent.gpu.DeviceSelection;
import io.vgpu.agent.gpu.GpuDriver;
import io.vgpu.agent.gpu.GpuSamplerVerticle;
import io.vgpu.agent.gpu.NodeGpus;
import io.vgpu.agent.gpu.nvml.NvmlGpuDriver;
import io.vgpu.agent.kubelet.KubeletCheckpoint;
import io.vgpu.agent.kubelet.KubeletCheckpoint.Holder;
import io.vgpu.agent.measure.Measured.CardLoad;
import io.vgpu.agent.measure.Pods.Wants;
import io.vgpu.agent.measure.Reservations.Reserved;
import io.vgpu.agent.metrics.CardSeries;
import io.vgpu.agent.metrics.DeviceMeters;
import io.vgpu.agent.shim.DeviceLimits;
import io.vgpu.agent.shim.DeviceLimits.Flag;
import io.vgpu.agent.testing.Built;
import io.vgpu.model.ContainerKind;
import io.vgpu.model.ContainerRef;
import io.vgpu.model.GpuUuid;
import io.vgpu.model.NodeConfig;
import io.vgpu.model.PodRef;
import io.vgpu.model.Use;
import io.vgpu.runtime.Lane;
import java.lang.reflect.Proxy;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** All series together, on a node with one shared card and one in MIG mode. */
class SeriesTest {
  private static final GpuUuid CARD = new GpuUuid("GPU-11111111-0000-0000-0000-000000000000");
  private static final String SLICE = "MIG-22222222-0000-0000-0000-000000000001";
  private static final String NODE =
      """
      system driver=550.163.01 nvml=12.550.163.01 cuda=12040
      device 0 name="NVIDIA A100" uuid=GPU-11111111-0000-0000-0000-000000000000 pci=00000000:07:00.0 memory=40GiB cc=8.0 cores=6912
      device 1 name="NVIDIA A100" uuid=GPU-22222222-0000-0000-0000-000000000000 pci=00000000:08:00.0 memory=40GiB cc=8.0 cores=6912 mig=enabled
      mig 1 0 uuid=MIG-22222222-0000-0000-0000-000000000001 profile=1g.5gb gi=7 sms=14 memory=4GiB slices=1
      process 1 pid=123 used=1GiB mig=0
      """;

  @TempDir Path root;
  private final Vertx vertx = Vertx.vertx();
  private final PrometheusMeterRegistry meters =
      new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
  private final CardSamples samples = new CardSamples();
  private final Pods pods = new Pods();
  private final AtomicInteger calls = new AtomicInteger();

  @BeforeEach
  void start() throws Exception {
    Files.copy(Built.shim("fake/libnvidia-ml.so.1"), root.resolve("libnvidia-ml.so.1"));
    Files.writeString(root.resolve("fake.gpus"), NODE);
    GpuDriver driver =
        counted(
            NvmlGpuDriver.open(
                root, root.resolve("no"), System::nanoTime, List.of(), Duration.ofSeconds(60)));
    NodeGpus gpus =
        new NodeGpus(
            driver.discover(),
            new NodeConfig(10, 1, 1, 2),
            Optional.empty(),
            DeviceSelection.parse(""));
    Map<Integer, Lane> lanes = Map.of(0, lane("nvml-0"), 1, lane("nvml-1"));
    await(
        vertx.deployVerticle(
            new GpuSamplerVerticle(
                driver,
                driver.discover(),
                lanes,
                Duration.ofSeconds(60),
                Duration.ofSeconds(2),
                samples,
                System::nanoTime,
                (index, outcome) -> {},
                (gpu, evidence) -> {})));
    long end = System.nanoTime() + Duration.ofSeconds(20).toNanos();
    while (samples.last(new GpuUuid(SLICE)).isEmpty() || samples.last(CARD).isEmpty()) {
      assertThat(System.nanoTime() - end).as("no sample").isNegative();
      Thread.onSpinWait();
    }
    var registry = meters.getPrometheusRegistry();
    registry.register(new CardSeries("n1", driver.info(), gpus, samples, System::nanoTime));
    registry.register(
        new ReservedSeries(
            "n1", gpus, () -> new Reserved(Map.of(CARD, new Use(3, 70, 2048)), Map.of(CARD, 2))));
    Measurements measurements = new Measurements(System::nanoTime);
    measurements.put(measured());
    registry.register(new ContainerSeries("n1", gpus, measurements, c -> true, true));
    Files.writeString(
        root.resolve(KubeletCheckpoint.FILE),
        """
        {"Data":{"PodDeviceEntries":[
          {"PodUID":"uid-p","ContainerName":"main","ResourceName":"nvidia.com/mig-1g.5gb","DeviceIDs":{"-1":["%s"]},"AllocResp":""},
          {"PodUID":"uid-q","ContainerName":"main","ResourceName":"nvidia.com/vgpu-number","DeviceIDs":{"-1":["x::1"]}}]},
         "Checksum":1}
        """
            .formatted(SLICE));
    pods.put(Pods.pod("p", CARD, new Wants("main", ContainerKind.APP, 1, 1)));
    Map<String, Holder> holders = new KubeletCheckpoint(root).holders("nvidia.com/mig-");
    registry.register(
        new MigSeries("n1", gpus, samples, System::nanoTime, () -> holders, pods::live));
  }

  private static Measured measured() {
    ContainerFigure figure =
        new ContainerFigure(
            new ContainerRef(new PodRef("team", "train", "uid"), "main"),
            0,
            new DeviceLimits(CARD, 0, 108, Set.of(Flag.COMPUTE_LIMIT), 1 << 30, 1 << 30, 200, 200),
            5_000_000_000L,
            Optional.of(
                new ContainerFigure.Seen(
                    1 << 20, 1 << 20, 1, OptionalLong.of(1 << 20), OptionalInt.of(100))));
    return new Measured(
        System.nanoTime(),
        List.of(figure),
        Map.of(CARD, new CardLoad(OptionalInt.of(0), 100, 0, false)));
  }

  private Lane lane(String name) {
    return new Lane(vertx, name, 2, Duration.ofSeconds(5), meters);
  }

  /** The same driver; every call is counted. */
  private GpuDriver counted(GpuDriver driver) {
    return (GpuDriver)
        Proxy.newProxyInstance(
            GpuDriver.class.getClassLoader(),
            new Class<?>[] {GpuDriver.class},
            (self, method, arguments) -> {
              calls.incrementAndGet();
              return method.invoke(driver, arguments);
            });
  }

  @AfterEach
  void stop() throws Exception {
    await(vertx.close());
  }

  @Test
  void everyDocumentedSeriesIsServedWithItsLabels() {
    String scrape = meters.scrape();
    for (DeviceMeters meter : DeviceMeters.values()) {
      String labels =
          Stream.concat(meter.labels().stream(), Stream.of("service"))
              .sorted()
              .map(label -> label + "=\"[^\"]*\"")
              .collect(Collectors.joining(","));
      assertThat(scrape)
          .as(meter.exposedName())
          .containsPattern("(?m)^" + meter.exposedName() + "\\{" + labels + "\\} ");
    }
  }

  /** 13-54: neither start and end of NVML, nor an enumeration, nor any other call. */
  @Test
  void aScrapeCallsNoDriver() {
    int before = calls.get();
    assertThat(before).isPositive();
    for (int i = 0; i < 5; i++) {
      meters.scrape();
    }
    assertThat(calls).hasValue(before);
  }

  @Test
  void whatIsReservedIsShownWithoutTheCardsInMigMode() {
    assertThat(meters.scrape())
        .containsPattern("vgpu_device_assigned_cores_number\\{device_idx=\"0\"[^}]*} 70.0")
        .containsPattern("vgpu_device_peak_shared_containers_number\\{[^}]*} 3.0")
        .containsPattern("vgpu_device_current_shared_containers_number\\{[^}]*} 2.0")
        .contains(
            "node_vgpu_device_assigned_memory_in_bytes{node=\"n1\",service=\"vGPU\"} 2.147483648E9")
        .as("memory scaling 2")
        .contains(
            "node_vgpu_device_assigned_physical_memory_in_bytes{node=\"n1\",service=\"vGPU\"} 1.073741824E9")
        .doesNotContainPattern("vgpu_device_assigned_cores_number\\{device_idx=\"1\"");
  }

  @Test
  void slicesAndTheirHoldersAreShown() {
    assertThat(meters.scrape())
        .containsPattern(
            "mig_device_memory_usage_in_bytes\\{[^}]*device_uuid=\""
                + SLICE
                + "\"[^}]*gi_id=\"7\"[^}]*} 1.073741824E9")
        .containsPattern("mig_device_memory_utilization_percent\\{[^}]*} 25.0")
        .containsPattern(
            "container_mig_device_allocation_info\\{container_name=\"main\"[^}]*pod_name=\"p\"[^}]*} 1");
    pods.remove(Pods.pod("p", CARD, new Wants("main", ContainerKind.APP, 1, 1)));
    assertThat(meters.scrape()).doesNotContain("container_mig_device_allocation_info{");
  }

  /** 13-13: neither a missing part nor an older shape of the kubelet's file breaks the look. */
  @Test
  void everyShapeOfTheKubeletsFileIsRead() throws Exception {
    KubeletCheckpoint checkpoint = new KubeletCheckpoint(root);
    Path file = root.resolve(KubeletCheckpoint.FILE);
    Files.writeString(
        file,
        "{\"PodDeviceEntries\":[{\"PodUID\":\"u\",\"ContainerName\":\"c\",\"ResourceName\":\"nvidia.com/mig-x\",\"DeviceIDs\":[\"a\",\"b\"]}]}");
    assertThat(checkpoint.holders("nvidia.com/mig-"))
        .containsOnly(Map.entry("a", new Holder("u", "c")), Map.entry("b", new Holder("u", "c")));
    Files.writeString(file, "{\"Checksum\":1}");
    assertThat(checkpoint.holders("nvidia.com/mig-")).isEmpty();
    Files.writeString(file, "{\"Data\":{\"PodDeviceEntries\":[null,7,{}]}}");
    assertThat(checkpoint.holders("nvidia.com/mig-")).isEmpty();
    Files.delete(file);
    assertThat(checkpoint.holders("nvidia.com/mig-")).isEmpty();
  }
}
