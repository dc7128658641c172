package io.vgpu.agent.gpu.nvml;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.vgpu.agent.gpu.CardSample;
import io.vgpu.agent.gpu.DriverInfo;
import io.vgpu.agent.gpu.GpuDriver;
import io.vgpu.agent.gpu.GpuDriverContract;
import io.vgpu.agent.gpu.GpuDriverException;
import io.vgpu.agent.gpu.GpuProcess;
import io.vgpu.agent.gpu.HealthEvent;
import io.vgpu.agent.gpu.PhysicalGpu;
import io.vgpu.agent.gpu.PhysicalGpu.MigDevice;
import io.vgpu.model.GpuUuid;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeMap;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The NVML driver on the fake library: the contract on every profile, and what each profile must
 * read as.
 */
class NvmlGpuDriverTest {
  @TempDir static Path temporary;

  abstract static class OnProfile extends GpuDriverContract {
    private final String profile;
    private Optional<FakeNode> node = Optional.empty();

    OnProfile(String profile) {
      this.profile = profile;
    }

    @Override
    protected GpuDriver open() throws IOException {
      FakeNode fake = FakeNode.ofProfile(Files.createTempDirectory(temporary, "node"), profile);
      node = Optional.of(fake);
      return fake.open();
    }

    @Override
    protected void raiseXid(GpuUuid gpu, int xid) throws IOException {
      int index =
          driver.discover().stream()
              .filter(g -> g.uuid().equals(gpu))
              .findFirst()
              .orElseThrow()
              .index();
      node.orElseThrow().tell("xid " + index + " code=" + xid);
    }
  }

  @Nested
  class OneT4 extends OnProfile {
    OneT4() {
      super("1xT4.gpus");
    }

    @Test
    void isReadAsItIs() {
      assertThat(driver.info()).isEqualTo(new DriverInfo("550.163.01", "12.550.163.01", 12040));
      assertThat(driver.info().cudaMajor()).isEqualTo(12);
      assertThat(driver.info().cudaMinor()).isEqualTo(4);
      assertThat(driver.discover())
          .containsExactly(
              new PhysicalGpu(
                  0,
                  0,
                  new GpuUuid("GPU-00000074-0000-0000-0000-000000000000"),
                  "Tesla T4",
                  15360L << 20,
                  "0000:3b:00.0",
                  0,
                  7.5f,
                  40,
                  false,
                  List.of()));
      assertThat(driver.topology().links().get(0)).isEmpty();
    }
  }

  @Nested
  class EightA100 extends OnProfile {
    EightA100() {
      super("8xA100.gpus");
    }

    @Test
    void isReadAsItIs() {
      List<PhysicalGpu> gpus = driver.discover();
      assertThat(gpus).hasSize(8).extracting(PhysicalGpu::smCount).containsOnly(108);
      assertThat(gpus).extracting(PhysicalGpu::numa).containsExactly(0, 0, 0, 0, 1, 1, 1, 1);
      assertThat(types(driver, 1)).containsExactly(4, 18); // PCIe switches, 12 NVLinks
      assertThat(types(driver, 2)).containsExactly(2, 18);
      assertThat(types(driver, 7)).containsExactly(1, 18);
    }
  }

  @Nested
  class EightH100 extends OnProfile {
    EightH100() {
      super("8xH100.gpus");
    }

    @Test
    void everyPairHasAllEighteenLinks() {
      driver
          .topology()
          .links()
          .forEach((a, peers) -> assertThat(peers.values()).allMatch(t -> t.getLast() == 24));
    }
  }

  @Nested
  class EightH200 extends OnProfile {
    EightH200() {
      super("8xH200.gpus");
    }

    @Test
    void hasItsMultiprocessors() {
      assertThat(driver.discover()).extracting(PhysicalGpu::smCount).containsOnly(132);
    }
  }

  /** The link types between card 0 and another. */
  private static List<Integer> types(GpuDriver driver, int peer) {
    return driver.topology().links().getOrDefault(0, new TreeMap<>()).getOrDefault(peer, List.of());
  }

  private static final GpuUuid A = new GpuUuid("GPU-aaaaaaaa-0000-0000-0000-000000000000");
  private static final GpuUuid B = new GpuUuid("GPU-bbbbbbbb-0000-0000-0000-000000000000");
  private static final GpuUuid SLICE = new GpuUuid("MIG-aaaaaaaa-0000-0000-0000-000000000001");

  private static final String TWO =
      """
      system driver=570.86.10 nvml=12.570.86.10 cuda=12080
      device 0 name="NVIDIA A100" uuid=GPU-aaaaaaaa-0000-0000-0000-000000000000 pci=00000000:3B:00.0 memory=40960MiB cc=8.0 cores=6912 mig=enabled
      device 1 name="NVIDIA A10" uuid=GPU-bbbbbbbb-0000-0000-0000-000000000000 pci=00010000:5E:00.0 minor=4 memory=24564MiB reserved=400MiB cc=8.6 cores=9216 numa=1
      mig 0 0 uuid=MIG-aaaaaaaa-0000-0000-0000-000000000001 profile=3g.20gb gi=1 sms=42 memory=19968MiB slices=3
      nvlink 0 1 count=4
      load 1 util=37 mem-util=5 used=2048MiB
      """;

  @Test
  void readsSlicesLinksAndLoad() throws IOException {
    try (NvmlGpuDriver driver = FakeNode.of(temporary.resolve("two"), TWO).open()) {
      List<PhysicalGpu> gpus = driver.discover();
      assertThat(gpus.get(0).mig()).isTrue();
      assertThat(gpus.get(0).migDevices())
          .containsExactly(new MigDevice(SLICE, "3g.20gb", 1, 0, 42, 19968));
      assertThat(gpus.get(0).numa()).isEqualTo(-1);
      assertThat(gpus.get(1).smCount()).isEqualTo(72);
      assertThat(gpus.get(1).minor()).isEqualTo(4);
      assertThat(gpus.get(1).capability()).isEqualTo(8.6f);
      assertThat(types(driver, 1)).contains(10);
      CardSample sample = driver.sample(B);
      assertThat(sample.utilizationPercent()).isEqualTo(37);
      assertThat(sample.usedBytes()).isEqualTo(2048L << 20);
    }
  }

  @Test
  void processesAreListedHoweverManyAndMemoryThatIsNotToldIsNoNumber() throws IOException {
    StringBuilder profile = new StringBuilder(TWO);
    profile.append("process 1 pid=7 used=3MiB\nprocess 1 pid=8 used=unknown\n");
    for (int pid = 100; pid < 200; pid++) {
      profile.append("process 1 pid=").append(pid).append(" used=1MiB\n");
    }
    try (NvmlGpuDriver driver =
        FakeNode.of(temporary.resolve("processes"), profile.toString()).open()) {
      List<GpuProcess> listed = driver.processes(B);
      assertThat(listed)
          .hasSize(102)
          .contains(
              new GpuProcess(7, OptionalLong.of(3 << 20)),
              new GpuProcess(8, OptionalLong.empty()),
              new GpuProcess(199, OptionalLong.of(1 << 20)));
    }
  }

  @Test
  void aSliceIsNamedByItsEvent() throws IOException {
    FakeNode node = FakeNode.of(temporary.resolve("slice"), TWO);
    try (NvmlGpuDriver driver = node.open()) {
      node.tell("xid 0 code=63 mig=0");
      assertThat(driver.awaitHealthEvent(Duration.ofSeconds(5)))
          .contains(new HealthEvent.Xid(Optional.of(SLICE), 63));
    }
  }

  @Test
  void theSlotsNumaNodeIsReadFromSysfs() throws IOException {
    FakeNode.of(temporary.resolve("numa"), TWO);
    Path sysfs = temporary.resolve("sysfs");
    Path slot = Files.createDirectories(sysfs.resolve("bus/pci/devices/0000:3b:00.0"));
    Files.writeString(slot.resolve("numa_node"), "3\n");
    try (NvmlGpuDriver driver =
        NvmlGpuDriver.open(
            temporary.resolve("numa"), sysfs, System::nanoTime, List.of(), FakeNode.LONG)) {
      assertThat(driver.discover()).extracting(PhysicalGpu::numa).containsExactly(3, 1);
    }
  }

  @Test
  void aCardThatCannotBeReadIsLeftOut() throws IOException {
    FakeNode node =
        FakeNode.of(
            temporary.resolve("lost"), TWO + "fail nvmlDeviceGetUUID code=GPU_IS_LOST device=0\n");
    try (NvmlGpuDriver driver = node.open()) {
      assertThat(driver.discover()).extracting(g -> g.uuid().value()).containsExactly(B.value());
    }
  }

  @Test
  @DisplayName("a card whose driver hangs keeps nobody from starting, and is not forgotten")
  void aCardThatDoesNotAnswerIsKnownFromBefore() throws IOException {
    String hangs = TWO + "hang nvmlDeviceGetUUID ms=1500 count=1 device=1\n";
    List<PhysicalGpu> before;
    try (NvmlGpuDriver driver = FakeNode.of(temporary.resolve("well"), TWO).open()) {
      before = driver.discover();
      assertThat(driver.silent()).isEmpty();
    }
    FakeNode node = FakeNode.of(temporary.resolve("hangs"), hangs);
    try (NvmlGpuDriver driver = node.open(before, Duration.ofMillis(300))) {
      assertThat(driver.discover()).isEqualTo(before);
      assertThat(driver.silent()).containsExactly(B);
      assertThat(driver.topology().links().keySet()).containsExactly(0);
      assertThat(driver.sample(A).gpu()).isEqualTo(A);
      assertThat(driver.sample(B).gpu()).as("waits for the answer").isEqualTo(B);
      assertThat(driver.silent()).isEmpty();
    }
    FakeNode first = FakeNode.of(temporary.resolve("first"), hangs);
    try (NvmlGpuDriver driver = first.open(List.of(), Duration.ofMillis(300))) {
      assertThat(driver.discover()).as("nobody knows its UUID").containsExactly(before.getFirst());
      assertThatThrownBy(() -> driver.sample(B)).isInstanceOf(GpuDriverException.class);
    }
  }

  @Test
  void aCardThatRefusesRegistrationIsTold() throws IOException {
    FakeNode node =
        FakeNode.of(
            temporary.resolve("refused"),
            TWO + "fail nvmlDeviceRegisterEvents code=UNKNOWN device=1\n");
    try (NvmlGpuDriver driver = node.open()) {
      assertThat(driver.awaitHealthEvent(Duration.ofMillis(1)))
          .hasValueSatisfying(
              e -> {
                assertThat(e).isInstanceOf(HealthEvent.NotWatchable.class);
                assertThat(((HealthEvent.NotWatchable) e).gpu().value()).isEqualTo(B.value());
              });
      assertThat(driver.awaitHealthEvent(Duration.ofMillis(1))).isEmpty();
    }
  }

  @Test
  void aLostCardIsSaidByItsCode() throws IOException {
    FakeNode node = FakeNode.of(temporary.resolve("gone"), TWO);
    try (NvmlGpuDriver driver = node.open()) {
      node.tell("lost 1");
      assertThatThrownBy(() -> driver.sample(B))
          .isInstanceOfSatisfying(
              GpuDriverException.class,
              e -> {
                assertThat(e.isGpuLost()).isTrue();
                assertThat(e.call()).startsWith("nvmlDeviceGet");
              });
    }
  }

  @Test
  @DisplayName("a lost card is named, and the others' errors are still heard")
  void aLostCardDoesNotDeafenTheWatchOfTheOthers() throws IOException {
    FakeNode node = FakeNode.of(temporary.resolve("deaf"), TWO);
    try (NvmlGpuDriver driver = node.open()) {
      node.tell("lost 1");
      assertThat(driver.awaitHealthEvent(Duration.ofSeconds(5)))
          .hasValueSatisfying(
              e ->
                  assertThat(e)
                      .isInstanceOfSatisfying(
                          HealthEvent.NotWatchable.class,
                          n -> {
                            assertThat(n.gpu()).isEqualTo(B);
                            assertThat(n.lost()).isTrue();
                          }));
      node.tell("xid 0 code=62");
      assertThat(driver.awaitHealthEvent(Duration.ofSeconds(5)))
          .contains(new HealthEvent.Xid(Optional.of(A), 62));
      node.tell("ecc 0 type=double");
      assertThat(driver.awaitHealthEvent(Duration.ofSeconds(5)))
          .contains(new HealthEvent.Ecc(Optional.of(A), false));
    }
  }

  @Test
  void aMissingOrBrokenLibraryIsNamed() throws IOException {
    assertThatThrownBy(
            () ->
                NvmlGpuDriver.load(
                    "libno-such-thing.so.1", temporary, System::nanoTime, List.of(), FakeNode.LONG))
        .isInstanceOf(GpuDriverException.class)
        .hasMessageContaining("libno-such-thing.so.1");
    FakeNode broken = FakeNode.of(temporary.resolve("broken"), "system nonsense\n");
    assertThatThrownBy(broken::open)
        .isInstanceOf(GpuDriverException.class)
        .hasMessageContaining("nvmlInit_v2 failed with code 999");
  }

  @Test
  void theLibraryIsFoundInTheDirectoriesOfADriverRoot() throws IOException {
    Path root = temporary.resolve("root");
    FakeNode.of(root.resolve("usr/lib/x86_64-linux-gnu"), TWO);
    Path real = root.resolve("usr/lib/x86_64-linux-gnu/libnvidia-ml.so.570.86.10");
    Files.move(root.resolve("usr/lib/x86_64-linux-gnu/libnvidia-ml.so.1"), real);
    Files.createSymbolicLink(
        root.resolve("usr/lib/x86_64-linux-gnu/libnvidia-ml.so.1"), real.getFileName());
    Files.createDirectories(root.resolve("lib64/libnvidia-ml.so.1")); // no file: passed over
    assertThat(DriverRoot.library(root)).isEqualTo(real.toRealPath().toString());
    assertThat(DriverRoot.library(temporary.resolve("nowhere"))).isEqualTo("libnvidia-ml.so.1");
  }

  @Test
  void busIdsLoseOneLeadingGroupOnly() {
    assertThat(NvmlCards.publishedBusId("00000000:3B:00.0")).isEqualTo("0000:3b:00.0");
    assertThat(NvmlCards.publishedBusId("00010000:5E:00.0")).isEqualTo("00010000:5e:00.0");
  }
}
