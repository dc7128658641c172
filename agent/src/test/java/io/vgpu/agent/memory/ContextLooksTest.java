package io.vgpu.agent.memory;

import static io.vgpu.agent.testing.ContainersOnDisk.await;
import static org.assertj.core.api.Assertions.assertThat;

import io.vgpu.agent.cgroup.CgroupOwner;
import io.vgpu.agent.cgroup.HostProcess;
import io.vgpu.agent.gpu.CardSamples;
import io.vgpu.agent.gpu.GpuProcess;
import io.vgpu.agent.measure.Listings;
import io.vgpu.agent.shim.Abi;
import io.vgpu.agent.shim.DeviceLimits;
import io.vgpu.agent.shim.DriverMemory;
import io.vgpu.agent.testing.ContainersOnDisk;
import io.vgpu.agent.testing.ContainersOnDisk.OnDisk;
import io.vgpu.agent.testing.FakeGpuDriver;
import io.vgpu.model.ContainerRef;
import io.vgpu.model.GpuUuid;
import io.vgpu.model.PodRef;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What is measured between two looks at the files that containers write, and what is not. */
class ContextLooksTest {
  private static final GpuUuid CARD = FakeGpuDriver.uuid(1);
  private static final String POD = "0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9";
  private static final String MAIN_ID = "3f".repeat(32);
  private static final String SIDE_ID = "ab".repeat(32);
  private static final long MIB = 1 << 20;

  @TempDir Path root;
  private ContainersOnDisk disk;
  private ContextLooks looks;
  private OnDisk main;
  private final ContainerNames names =
      (pod, id) -> Optional.ofNullable(Map.of(MAIN_ID, "main", SIDE_ID, "side").get(id));

  @BeforeEach
  void start() throws Exception {
    disk = new ContainersOnDisk(root);
    looks = new ContextLooks(new Listings(), System::nanoTime);
    main = attach("main");
  }

  @AfterEach
  void stop() throws Exception {
    disk.close();
  }

  private OnDisk attach(String container) throws Exception {
    return disk.attach(
        new ContainerRef(new PodRef("team", "train", POD), container),
        new DeviceLimits(
            CARD, 1, 108, Set.of(DeviceLimits.Flag.MEMORY_LIMIT), 1 << 30, 1 << 30, 1000, 1000));
  }

  /** What a process of the library's leaves in its slot. */
  private static void slot(OnDisk container, int slot, long overheadMib, long chargedMib)
      throws Exception {
    long at = Abi.SLOTS_OFFSET + (long) slot * Abi.SLOT_BYTES;
    container.usage(at + Abi.UsageSlot.STATE, Abi.SLOT_LIVE, 4);
    container.usage(at + Abi.UsageSlot.OVERHEAD_PAGES, overheadMib * 256, 4);
    container.usage(at + Abi.UsageSlot.BYTES, chargedMib * MIB, 8);
    container.usage(Abi.Header.SLOT_HIGH_WATER, slot + 1, 4);
  }

  private DriverList.Entry process(String id, long mib) {
    return new DriverList.Entry(
        new Attribution.Whose(POD, names.nameOf(POD, id), Optional.empty()),
        mib < 0 ? OptionalLong.empty() : OptionalLong.of(mib * MIB));
  }

  private interface Meanwhile {
    void happens() throws Exception;
  }

  private int look(Meanwhile meanwhile, DriverList.Entry... listed) throws Exception {
    var before = await(disk.shim().round(looks::before));
    meanwhile.happens();
    DriverList list = new DriverList(List.of(listed), 0);
    return await(
        disk.shim().round(all -> looks.after(before.getOrDefault(CARD, Map.of()), list, all)));
  }

  private int look(DriverList.Entry... listed) throws Exception {
    return look(() -> {}, listed);
  }

  private DriverMemory measured(String container) throws Exception {
    return await(
        disk.shim()
            .round(
                all ->
                    all.stream()
                        .filter(c -> c.owner().container().equals(container))
                        .findFirst()
                        .orElseThrow()
                        .memory(0)));
  }

  @Test
  void theMiddleOfThreeFiguresCounts() throws Exception {
    slot(main, 0, 520, 100);
    look(process(MAIN_ID, 448));
    look(process(MAIN_ID, 100)); // a call was on its way all the time
    assertThat(measured("main")).isEqualTo(new DriverMemory(100 * MIB, 0, 0));
    look(process(MAIN_ID, 452));
    assertThat(measured("main")).isEqualTo(new DriverMemory(452 * MIB, 348 * MIB, 1));
    look(process(MAIN_ID, 460));
    assertThat(measured("main")).isEqualTo(new DriverMemory(460 * MIB, 352 * MIB, 2));
  }

  @Test
  void severalProcessesShareEqually() throws Exception {
    slot(main, 0, 520, 100);
    slot(main, 1, 520, 50);
    for (int i = 0; i < 3; i++) {
      look(process(MAIN_ID, 400), process(MAIN_ID, 350));
    }
    assertThat(measured("main")).isEqualTo(new DriverMemory(750 * MIB, 300 * MIB, 1));
  }

  @Test
  void whatChangesMeanwhileIsNotMeasured() throws Exception {
    slot(main, 0, 520, 100);
    for (int i = 0; i < 5; i++) {
      long next = 200L + i;
      assertThat(look(() -> slot(main, 0, 520, next), process(MAIN_ID, 900))).isZero();
    }
    assertThat(measured("main").contextSample()).isZero();
    assertThat(measured("main").listedBytes()).as("it is still true").isEqualTo(900 * MIB);
  }

  @Test
  void aProcessMoreBeginsAnew() throws Exception {
    slot(main, 0, 520, 100);
    for (int i = 0; i < 3; i++) {
      look(process(MAIN_ID, 400));
    }
    slot(main, 1, 520, 0);
    assertThat(look(process(MAIN_ID, 400))).as("its context is not in the list").isZero();
    look(process(MAIN_ID, 400), process(MAIN_ID, 310));
    look(process(MAIN_ID, 400), process(MAIN_ID, 310));
    assertThat(measured("main").contextSample()).isEqualTo(1);
    look(process(MAIN_ID, 400), process(MAIN_ID, 310));
    assertThat(measured("main")).isEqualTo(new DriverMemory(710 * MIB, 305 * MIB, 2));
  }

  @Test
  void whatCannotBeComparedIsNot() throws Exception {
    slot(main, 0, 520, 100);
    assertThat(look(process(MAIN_ID, -1))).as("the driver does not tell").isZero();
    assertThat(measured("main")).isEqualTo(DriverMemory.NONE);
    main.usage(Abi.SLOTS_OFFSET + Abi.UsageSlot.MANAGED_PAGES, 1, 4);
    assertThat(look(process(MAIN_ID, 400))).as("managed memory may be anywhere").isZero();
    main.usage(Abi.SLOTS_OFFSET + Abi.UsageSlot.MANAGED_PAGES, 0, 4);
    main.usage(Abi.Header.SLOT_HIGH_WATER, Abi.RING_SLOTS + 1, 4);
    assertThat(look(process(MAIN_ID, 400))).as("more than are copied").isZero();
    main.usage(Abi.Header.SLOT_HIGH_WATER, 1, 4);
    assertThat(look(process(MAIN_ID, 400))).isEqualTo(1);
  }

  @Test
  void lessThanWasChargedIsNothing() throws Exception {
    slot(main, 0, 520, 100);
    main.usage(Abi.SLOTS_OFFSET + Abi.UsageSlot.BYTES, Long.MAX_VALUE, 8); // or a liar
    for (int i = 0; i < 3; i++) {
      look(process(MAIN_ID, 50));
    }
    assertThat(measured("main")).isEqualTo(new DriverMemory(50 * MIB, 0, 1));
  }

  @Test
  void containersOfOnePodAreToldApartByTheirIds() throws Exception {
    OnDisk side = attach("side");
    slot(main, 0, 520, 0);
    slot(side, 0, 520, 0);
    for (int i = 0; i < 3; i++) {
      assertThat(look(process(MAIN_ID, 300), process(SIDE_ID, 200), process("cd".repeat(32), 7)))
          .isEqualTo(2);
    }
    assertThat(measured("main").contextBytes()).isEqualTo(300 * MIB);
    assertThat(measured("side").contextBytes()).isEqualTo(200 * MIB);
  }

  /** Gate off, and the kubelet has not told the runtime's ids yet (node-agent.md 4, 9). */
  @Test
  void whereTheStatusIsLateThePidWithinTellsContainersApart() throws Exception {
    OnDisk side = attach("side");
    slot(main, 0, 520, 0);
    slot(side, 0, 520, 0);
    is(main, 0, 7, 4711);
    is(side, 0, 7, 4712); // each container counts from one
    for (int i = 0; i < 3; i++) {
      look(within(7, 4711, 300), within(7, 4712, 200), within(8, 4711, 7), within(7, 4713, 7));
    }
    assertThat(measured("main").contextBytes()).isEqualTo(300 * MIB);
    assertThat(measured("side").contextBytes()).isEqualTo(200 * MIB);
  }

  private static void is(OnDisk container, int slot, int pid, long startTime) throws Exception {
    long at = Abi.SLOTS_OFFSET + (long) slot * Abi.SLOT_BYTES;
    container.usage(at + Abi.UsageSlot.PID, pid, 4);
    container.usage(at + Abi.UsageSlot.START_TIME, startTime, 8);
  }

  private static DriverList.Entry within(int innerPid, long startTime, long mib) {
    return new DriverList.Entry(
        new Attribution.Whose(
            POD,
            Optional.empty(),
            Optional.of(
                new HostProcess(
                    4000 + innerPid,
                    startTime,
                    innerPid,
                    Optional.of(new CgroupOwner(POD, Optional.of("ef".repeat(32))))))),
        OptionalLong.of(mib * MIB));
  }

  @Test
  void whenItsLastContextGoesNothingIsListed() throws Exception {
    slot(main, 0, 520, 100);
    for (int i = 0; i < 3; i++) {
      look(process(MAIN_ID, 400));
    }
    slot(main, 0, 0, 0);
    look();
    assertThat(measured("main")).isEqualTo(new DriverMemory(0, 300 * MIB, 1));
  }

  @Test
  void theVerticleAsksTheDriverAndFindsWhoseProcessesAre() throws Exception {
    Path proc = Files.createDirectory(root.resolve("proc"));
    Files.createDirectory(proc.resolve("41"));
    Files.writeString(proc.resolve("41/cgroup"), "0::/kubepods/pod" + POD + "/" + MAIN_ID + "\n");
    try (FakeGpuDriver driver = new FakeGpuDriver(2)) {
      driver.compute(
          CARD,
          new GpuProcess(41, OptionalLong.of(448 * MIB)),
          new GpuProcess(42, OptionalLong.of(10_000 * MIB))); // the node's own
      driver.hang(FakeGpuDriver.uuid(0)); // nobody has a context there: it is not asked
      slot(main, 0, 520, 100);
      await(
          disk.vertx()
              .deployVerticle(
                  new ContextVerticle(
                      disk.shim(),
                      driver,
                      driver.discover(),
                      Map.of(0, disk.lane("nvml-0"), 1, disk.lane("nvml-1")),
                      new Attribution(proc, names, pid -> Optional.empty()),
                      new CardSamples(),
                      new Listings(),
                      Duration.ofMillis(10),
                      System::nanoTime,
                      disk.meters())));
      long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
      while (measured("main").contextSample() == 0 && System.nanoTime() < end) {
        Thread.onSpinWait();
      }
    }
    assertThat(measured("main").listedBytes()).isEqualTo(448 * MIB);
    assertThat(measured("main").contextBytes()).isEqualTo(348 * MIB);
    assertThat(disk.meters().scrape())
        .contains("vgpu_card_processes_listed_total{device_idx=\"1\",owner=\"other\"}")
        .doesNotContain("vgpu_card_process_lists_total{device_idx=\"0\"");
  }

  @Test
  void aListThatComesTooLateIsNotUsedAndThenNoneIsAskedFor() throws Exception {
    slot(main, 0, 520, 100);
    CardSamples samples = new CardSamples();
    java.util.concurrent.atomic.AtomicLong now = new java.util.concurrent.atomic.AtomicLong();
    try (FakeGpuDriver driver = new FakeGpuDriver(2)) {
      driver.hang(CARD);
      await(
          disk.vertx()
              .deployVerticle(
                  new ContextVerticle(
                      disk.shim(),
                      driver,
                      List.of(driver.discover().get(1)),
                      Map.of(1, disk.lane("nvml-1")),
                      new Attribution(root, names, pid -> Optional.empty()),
                      samples,
                      new Listings(),
                      Duration.ofMillis(10),
                      now::get,
                      disk.meters())));
      until("vgpu_card_process_lists_total{device_idx=\"1\",outcome=\"busy\"}");
      now.set(TimeUnit.SECONDS.toNanos(3));
      driver.release(CARD);
      until("vgpu_card_process_lists_total{device_idx=\"1\",outcome=\"late\"} 1.0");
    }
  }

  private void until(String series) throws Exception {
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
    while (!disk.meters().scrape().contains(series)) {
      assertThat(System.nanoTime()).as("waiting for %s", series).isLessThan(end);
      Thread.onSpinWait();
    }
  }
}
