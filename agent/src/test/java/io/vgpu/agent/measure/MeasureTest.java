package io.vgpu.agent.measure;

import static io.vgpu.agent.testing.ContainersOnDisk.await;
import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.vgpu.agent.gpu.CardSample;
import io.vgpu.agent.gpu.CardSamples;
import io.vgpu.agent.gpu.DeviceSelection;
import io.vgpu.agent.gpu.NodeGpus;
import io.vgpu.agent.measure.Measured.CardLoad;
import io.vgpu.agent.shim.Abi;
import io.vgpu.agent.shim.DeviceLimits;
import io.vgpu.agent.shim.DeviceLimits.Flag;
import io.vgpu.agent.shim.DeviceLoad;
import io.vgpu.agent.shim.DriverMemory;
import io.vgpu.agent.shim.ShimWriter.Owner;
import io.vgpu.agent.testing.ContainersOnDisk;
import io.vgpu.agent.testing.ContainersOnDisk.OnDisk;
import io.vgpu.agent.testing.FakeGpuDriver;
import io.vgpu.event.VgpuEvent;
import io.vgpu.event.VgpuEvent.UnaccountedLoad;
import io.vgpu.model.ContainerRef;
import io.vgpu.model.GpuUuid;
import io.vgpu.model.NodeConfig;
import io.vgpu.model.PodRef;
import java.io.FileOutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** From what a container writes to what a scrape shows of it. */
class MeasureTest {
  private static final GpuUuid CARD = FakeGpuDriver.uuid(0);
  private static final PodRef POD = new PodRef("team", "train", "0a1b2c3d");
  private static final long MIB = 1 << 20;
  private static final long S = 1_000_000_000;
  private static final String OF =
      "{container_name=\"main\",device_uuid=\""
          + CARD
          + "\",node=\"n1\",pod_name=\"train\","
          + "pod_namespace=\"team\",service=\"vGPU\",vdevice_idx=\"0\"} ";

  @TempDir Path root;
  private final AtomicLong now = new AtomicLong(1_000 * S);
  private final FakeGpuDriver driver = new FakeGpuDriver(1);
  private final CardSamples samples = new CardSamples();
  private final Listings listings = new Listings();
  private final Measurements measurements = new Measurements(now::get);
  private ContainersOnDisk disk;
  private MeasureRound round;
  private OnDisk main;

  @BeforeEach
  void start() throws Exception {
    disk = new ContainersOnDisk(root);
    round = new MeasureRound(List.of(CARD), samples, listings, now::get, disk.meters());
    disk.meters()
        .getPrometheusRegistry()
        .register(
            new ContainerSeries(
                "n1",
                new NodeGpus(
                    driver.discover(),
                    new NodeConfig(10, 1, 1, 1),
                    Optional.empty(),
                    DeviceSelection.parse("")),
                measurements,
                c -> true,
                true));
    main = attach(limits(1 << 30, 200, Flag.COMPUTE_LIMIT));
  }

  @AfterEach
  void stop() throws Exception {
    disk.close();
  }

  private static DeviceLimits limits(long bytes, int permille, Flag... flags) {
    return new DeviceLimits(CARD, 0, 108, Set.of(flags), bytes, bytes, permille, permille);
  }

  private OnDisk attach(DeviceLimits limits) throws Exception {
    return disk.attach(new ContainerRef(POD, "main"), limits);
  }

  private void slot(int slot, int state, long overheadMib, long chargedMib) throws Exception {
    long at = Abi.SLOTS_OFFSET + (long) slot * Abi.SLOT_BYTES;
    main.usage(at + Abi.UsageSlot.STATE, state, 4);
    main.usage(at + Abi.UsageSlot.OVERHEAD_PAGES, overheadMib * 256, 4);
    main.usage(at + Abi.UsageSlot.BYTES, chargedMib * MIB, 8);
    main.usage(at + Abi.UsageSlot.MANAGED_PAGES, 256, 4);
    main.usage(Abi.Header.SLOT_HIGH_WATER, Math.max(slot + 1, 70), 4);
  }

  /** What the refund loop writes. */
  private void load(int permille, long refundNs) throws Exception {
    long at = now.get();
    await(
        disk.shim()
            .round(
                all -> {
                  all.forEach(
                      c ->
                          c.updateLoad(
                              0,
                              new DeviceLoad(
                                  0, permille, 0, at, DriverMemory.NONE, refundNs, 0, 0, 0)));
                  return 0;
                }));
  }

  private void charged(long ns) throws Exception {
    main.usage(Abi.Usage.DEVICES + Abi.UsageDevice.RAW_BUSY_NS, ns, 8);
  }

  private Measured look() throws Exception {
    MeasureRound.Found found = await(disk.shim().round(round::run));
    measurements.put(found.measured());
    return found.measured();
  }

  private String scrape() {
    PrometheusMeterRegistry meters = disk.meters();
    return meters.scrape();
  }

  @Test
  void seriesAreThereFromTheAllocationOn() throws Exception {
    load(0, 0);
    look();
    assertThat(scrape())
        .contains("container_vgpu_device_memory_limit_in_bytes" + OF + "1.073741824E9")
        .contains("container_vgpu_device_memory_usage_in_bytes" + OF + "0.0")
        .contains("container_vgpu_device_memory_utilization_percent" + OF + "0.0")
        .contains("container_vgpu_device_core_utilization_percent" + OF + "0.0")
        .contains("vgpu_container_gpu_seconds_total" + OF + "0.0")
        .contains("vgpu_container_gpu_limit_ratio" + OF + "0.2");
  }

  @Test
  void memoryIsTheSumOverLiveSlotsAlsoOfThoseWithoutARing() throws Exception {
    slot(0, Abi.SLOT_LIVE, 1, 100);
    slot(69, Abi.SLOT_LIVE, 1, 50);
    slot(3, Abi.SLOT_FREE, 1, 1000);
    slot(4, Abi.SLOT_SUSPENDED, 1, 1000);
    slot(5, 77, 1, 1000);
    look();
    assertThat(scrape())
        .contains("vgpu_container_memory_bytes" + OF + (double) (152 * MIB))
        .contains("vgpu_container_virtual_memory_bytes" + OF + (double) (2 * MIB))
        .contains("container_vgpu_device_memory_usage_in_bytes" + OF + (double) (154 * MIB))
        .contains("container_vgpu_device_memory_utilization_percent" + OF + "15.0")
        .contains("vgpu_container_processes" + OF + "2.0");
  }

  /** 13-57: what the driver does not tell is no number, and no limit is not 100 %. */
  @Test
  void whatIsNotKnownHasNoSeries() throws Exception {
    main = attach(limits(0, 1000));
    slot(0, Abi.SLOT_LIVE, 1, -1);
    look();
    assertThat(scrape())
        .doesNotContain("container_vgpu_device_memory_utilization_percent{")
        .doesNotContain("container_vgpu_device_physical_memory_usage_in_bytes{")
        .as("nobody charges the time of a container without a limit")
        .doesNotContain("container_vgpu_device_core_utilization_percent{")
        .doesNotContain("vgpu_container_gpu_seconds_total{")
        .as("less than nothing is nothing")
        .contains("vgpu_container_memory_bytes" + OF + (double) MIB);

    listings.put(new Owner(POD.uid(), "main"), 0, 5 * MIB, now.get());
    look();
    assertThat(scrape())
        .contains("container_vgpu_device_physical_memory_usage_in_bytes" + OF + 5.0 * MIB);

    now.addAndGet(30 * S); // the driver lists it no more
    look();
    assertThat(scrape()).doesNotContain("container_vgpu_device_physical_memory_usage_in_bytes{");
  }

  /** 13-53: a figure that is not written anew is not shown for ever. */
  @Test
  void aStaleFigureIsNotShown() throws Exception {
    slot(0, Abi.SLOT_LIVE, 1, 10);
    load(190, 0);
    look();
    assertThat(scrape()).contains("container_vgpu_device_core_utilization_percent" + OF + "19.0");

    now.addAndGet(MeasureRound.LOAD_STALE.toNanos() + 1); // the refund loop stands still
    look();
    assertThat(scrape()).doesNotContain("container_vgpu_device_core_utilization_percent{");

    load(190, 0);
    look();
    now.addAndGet(Measurements.STALE.toNanos() + 1); // the looks stand still
    assertThat(scrape()).doesNotContain("container_vgpu_device_core_utilization_percent{");
  }

  @Test
  void timeIsWhatWasChargedLessWhatWasGivenBack() throws Exception {
    load(0, 0);
    look();
    now.addAndGet(10 * S);
    charged(3 * S);
    load(200, S);
    look();
    assertThat(scrape()).contains("vgpu_container_gpu_seconds_total" + OF + "2.0");
  }

  /** 13-32: a file that was cut short says nothing, and says so. */
  @Test
  void aShortFileIsDoubtedAndSeriesOfTheLimitsStay() throws Exception {
    slot(0, Abi.SLOT_LIVE, 1, 10);
    try (FileOutputStream cut = new FileOutputStream(main.usage().toFile())) {
      cut.write(1);
    }
    look();
    assertThat(scrape())
        .contains("container_vgpu_device_memory_limit_in_bytes" + OF)
        .doesNotContain("vgpu_container_memory_bytes{")
        .contains("vgpu_container_usage_doubted_total{cause=\"short\"} 1.0");
  }

  /** node-agent.md 1.8: what a container did to the size of its files is set back. */
  @Test
  void filesThatWereCutOrGrownGetTheirSizeBack() throws Exception {
    slot(0, Abi.SLOT_LIVE, 1, 10);
    main.usage(Abi.USAGE_BYTES + 1000, 1, 8);
    assertThat(mended()).isEqualTo(Abi.USAGE_BYTES);
    look();
    assertThat(scrape())
        .as("what was in it stays")
        .contains("vgpu_container_memory_bytes" + OF + (double) (11 * MIB));

    Files.write(main.usage(), new byte[] {1});
    assertThat(mended()).isEqualTo(Abi.USAGE_BYTES);
    look();
    assertThat(scrape()).contains("vgpu_container_memory_bytes" + OF + "0.0");

    Path lock = main.usage().resolveSibling(Abi.USAGE_LOCK_FILE);
    Files.write(lock, new byte[] {1});
    mended();
    assertThat(lock).hasSize(Abi.USAGE_LOCK_BYTES);
    assertThat(await(disk.shim().round(round::run)).misshapen()).isEmpty();
  }

  private long mended() throws Exception {
    for (Owner owner : await(disk.shim().round(round::run)).misshapen()) {
      await(disk.shim().setBack(owner));
    }
    return Files.size(main.usage());
  }

  @Test
  void aContainerThatIsGoneHasNoSeries() throws Exception {
    look();
    assertThat(scrape()).contains(OF);
    await(disk.shim().release(POD.uid(), "main"));
    look();
    assertThat(scrape()).doesNotContain(OF);
  }

  private CardLoad cardLoad() throws Exception {
    return Optional.ofNullable(look().cards().get(CARD)).orElseThrow();
  }

  private void card(int percent) {
    samples.put(new CardSample(CARD, now.get(), percent, 0, 1));
  }

  @Test
  void aLoadThatIsNobodysIsToldOnceAndEndedAgain() throws Exception {
    List<VgpuEvent> told = new ArrayList<>();
    MeasureVerticle verticle =
        new MeasureVerticle(
            disk.shim(),
            disk.shim()::setBack,
            driver.discover(),
            samples,
            listings,
            measurements,
            "n1",
            told::add,
            Clock.systemUTC(),
            now::get,
            disk.meters());
    for (int second = 0; second < 20; second++) {
      now.addAndGet(S);
      card(second < 10 ? 90 : 20);
      load(200, 0);
      verticle.keep(await(disk.shim().round(verticle.round()::run)));
    }
    assertThat(told)
        .extracting(e -> ((UnaccountedLoad) e).unaccounted())
        .containsExactly(true, false);
    assertThat((UnaccountedLoad) told.getFirst())
        .extracting(UnaccountedLoad::cardPermille, UnaccountedLoad::containersPermille)
        .containsExactly(900, 200);
  }

  @Test
  void aCardWithoutAFreshSampleIsComparedWithNothing() throws Exception {
    card(100);
    for (int second = 0; second < 5; second++) {
      now.addAndGet(S);
      look();
    }
    now.addAndGet(20 * S);
    CardLoad load = cardLoad();
    assertThat(load.cardPermille()).isEmpty();
    assertThat(load.unaccounted()).isFalse();
  }

  @Test
  void containersWhoseTimeIsNotChargedAreCountedApart() throws Exception {
    main = attach(limits(1 << 30, 1000));
    card(100);
    assertThat(cardLoad().unlimited()).as("it has no process").isZero();
    slot(0, Abi.SLOT_LIVE, 1, 10);
    assertThat(cardLoad().unlimited()).isOne();
  }
}
