package io.vgpu.agent.measure;

import static io.vgpu.agent.testing.ContainersOnDisk.await;
import static org.assertj.core.api.Assertions.assertThat;

import io.vgpu.agent.gpu.CardSamples;
import io.vgpu.agent.gpu.GpuSamplerVerticle;
import io.vgpu.agent.gpu.PhysicalGpu;
import io.vgpu.agent.gpu.nvml.NvmlGpuDriver;
import io.vgpu.agent.measure.ContainerFigure.Seen;
import io.vgpu.agent.measure.Measured.CardLoad;
import io.vgpu.agent.memory.Attribution;
import io.vgpu.agent.memory.ContextVerticle;
import io.vgpu.agent.metrics.AgentMeters;
import io.vgpu.agent.posix.Futex;
import io.vgpu.agent.refund.RefundVerticle;
import io.vgpu.agent.shim.DeviceLimits;
import io.vgpu.agent.shim.DeviceLimits.Flag;
import io.vgpu.agent.testing.Built;
import io.vgpu.agent.testing.ContainersOnDisk;
import io.vgpu.agent.testing.ContainersOnDisk.OnDisk;
import io.vgpu.model.ContainerRef;
import io.vgpu.model.PodRef;
import io.vgpu.runtime.Lane;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * What the agent says of containers, compared with what the fake card itself counted: the library
 * as it ships, the fake driver, and the agent's own verticles.
 *
 * <p>Bounds. Memory: equal, to the granule of the card (512 bytes) an allocation. Time: slices that
 * are not paid for yet, and refunds that wait up to a second for neighbours, make it late or early
 * by so much; over a window it is within 5 % of what the card counted and 150 ms.
 */
class FakeLedgerTest {
  private static final long MIB = 1 << 20;
  private static final long S = 1_000_000_000;
  private static final double OF_THE_WINDOW = 0.05;
  private static final long LATE_NS = 150_000_000;
  private static final long GRANULE = 512;

  @TempDir Path root;
  private final List<Process> started = new ArrayList<>();
  private final Listings listings = new Listings();
  private final CardSamples samples = new CardSamples();
  private ContainersOnDisk disk;
  private NvmlGpuDriver driver;
  private MeasureRound round;
  private PhysicalGpu card;

  @BeforeEach
  void start() throws Exception {
    Files.copy(Built.shim("fake/libnvidia-ml.so.1"), root.resolve("libnvidia-ml.so.1"));
    Files.copy(Built.profile("8xH200.gpus"), root.resolve("fake.gpus"));
    driver =
        NvmlGpuDriver.open(
            root, root.resolve("no-sysfs"), System::nanoTime, List.of(), Duration.ofSeconds(60));
    List<PhysicalGpu> gpus = driver.discover();
    card = gpus.getFirst();
    disk = new ContainersOnDisk(Files.createDirectory(root.resolve("node")));
    Map<Integer, Lane> lanes = new HashMap<>();
    gpus.forEach(g -> lanes.put(g.index(), disk.lane("nvml-" + g.index())));
    round =
        new MeasureRound(List.of(card.uuid()), samples, listings, System::nanoTime, disk.meters());
    Files.createDirectory(root.resolve("proc"));
    await(
        disk.vertx()
            .deployVerticle(
                new RefundVerticle(
                    disk.shim(), gpus, samples, new Futex(), System::nanoTime, disk.meters())));
    await(
        disk.vertx()
            .deployVerticle(
                new GpuSamplerVerticle(
                    driver,
                    gpus,
                    lanes,
                    Duration.ofMillis(200),
                    Duration.ofSeconds(2),
                    samples,
                    System::nanoTime,
                    (index, outcome) -> {},
                    (gpu, evidence) -> {})));
    await(
        disk.vertx()
            .deployVerticle(
                new ContextVerticle(
                    disk.shim(),
                    driver,
                    gpus,
                    lanes,
                    new Attribution(
                        root.resolve("proc"),
                        (pod, id) -> Optional.empty(),
                        pid -> Optional.empty()),
                    samples,
                    listings,
                    Duration.ofMillis(100),
                    System::nanoTime,
                    disk.meters())));
  }

  @AfterEach
  void stop() throws Exception {
    for (Process p : started) {
      p.destroyForcibly();
      p.waitFor(20, TimeUnit.SECONDS);
    }
    disk.close();
    driver.close();
  }

  /** A container of a pod of its own, with one program that always has work. */
  private Process tenant(String pod, int percent, long kernelNs) throws Exception {
    OnDisk files =
        disk.attach(
            new ContainerRef(new PodRef("team", pod, uid(pod)), "main"),
            new DeviceLimits(
                card.uuid(),
                card.index(),
                card.smCount(),
                // no turns: they interrupt each other, so that there is something to give back
                Set.of(Flag.MEMORY_LIMIT, Flag.COMPUTE_LIMIT, Flag.LATENCY),
                2048 * MIB,
                2048 * MIB,
                percent * 10,
                percent * 10));
    Path inside = files.mountedInto(root.resolve("in-" + pod));
    ProcessBuilder program =
        new ProcessBuilder(Built.shim("pace-tenant").toString(), Long.toString(kernelNs), "1", "1")
            .redirectErrorStream(true)
            .redirectOutput(root.resolve(pod + ".log").toFile());
    Map<String, String> env = program.environment();
    env.putAll(fake());
    env.put("LD_PRELOAD", Built.shim("libvgpu-control.so").toString());
    env.put("CUDA_SHIM_CONFIG_DIR", inside.toString());
    env.put("CUDA_VISIBLE_DEVICES", card.uuid().value());
    Process process = program.start();
    started.add(process);
    Path proc = Files.createDirectory(root.resolve("proc/" + process.pid()));
    Files.writeString(
        proc.resolve("cgroup"),
        "0::/kubepods/burstable/pod" + uid(pod) + "/" + "5e".repeat(32) + "\n");
    return process;
  }

  private static String uid(String pod) {
    return pod + "-4e5f-6071-8293-a4b5c6d7e8f9";
  }

  private Map<String, String> fake() {
    return Map.of(
        "FAKE_GPUS", root.resolve("fake.gpus").toString(),
        "FAKE_GPUS_STATE", root.resolve("fake.gpus.state").toString(),
        "FAKE_GPUS_SWITCH_US", "170",
        "LD_LIBRARY_PATH", Built.shim("fake").toString());
  }

  /** What the card counted of a process. */
  private record Counted(long bytes, long busyNs) {}

  private Map<Long, Counted> ledger() throws IOException, InterruptedException {
    ProcessBuilder tool =
        new ProcessBuilder(
            Built.shim("fake-gpu").toString(),
            "--state",
            root.resolve("fake.gpus.state").toString(),
            "processes");
    Process process = tool.start();
    String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor(20, TimeUnit.SECONDS)).isTrue();
    Map<Long, Counted> counted = new HashMap<>();
    said.lines()
        .skip(1)
        .map(line -> line.split(" "))
        .forEach(
            w ->
                counted.put(
                    Long.parseLong(w[1]), new Counted(Long.parseLong(w[4]), Long.parseLong(w[6]))));
    return counted;
  }

  private record Both(
      long atNs, Map<String, ContainerFigure> ours, CardLoad card, Map<Long, Counted> its) {}

  private Both look() throws Exception {
    Measured measured = await(disk.shim().round(round::run)).measured();
    Map<Long, Counted> its = ledger();
    Map<String, ContainerFigure> ours = new HashMap<>();
    measured.containers().forEach(f -> ours.put(f.container().pod().name(), f));
    return new Both(
        measured.atNanos(),
        ours,
        Optional.ofNullable(measured.cards().get(card.uuid())).orElseThrow(),
        its);
  }

  private interface Until {
    boolean holds(Both look);
  }

  private Both until(Until until) throws Exception {
    long end = System.nanoTime() + 40 * S;
    while (true) {
      Both look = look();
      if (until.holds(look)) {
        return look;
      }
      assertThat(System.nanoTime() - end).as("waited too long; last: " + look).isNegative();
    }
  }

  private static Seen seen(Both look, String pod) {
    return Optional.ofNullable(look.ours().get(pod))
        .flatMap(ContainerFigure::seen)
        .orElseThrow(() -> new AssertionError("nothing seen of " + pod));
  }

  private static Counted counted(Both look, Process process) {
    return look.its().getOrDefault(process.pid(), new Counted(0, 0));
  }

  private static long gpuNs(Both look, String pod) {
    return Optional.ofNullable(look.ours().get(pod)).map(ContainerFigure::gpuNs).orElse(0L);
  }

  @Test
  void containersHaveWhatTheCardItselfCounted() throws Exception {
    Process lon = tenant("aaaaaaaa", 25, 7_300_000);
    Process brief = tenant("bbbbbbbb", 50, 740_000);
    Both first =
        until(
            l ->
                counted(l, lon).busyNs() > 200_000_000
                    && counted(l, brief).busyNs() > 200_000_000
                    && seen(l, "aaaaaaaa").listedBytes().isPresent());
    Both last = until(l -> l.atNs() - first.atNs() > 6 * S);

    compare(first, last, "aaaaaaaa", lon);
    compare(first, last, "bbbbbbbb", brief);
    assertThat(last.card().cardPermille()).isPresent();
    assertThat(AgentMeters.REFUNDS.counter(disk.meters(), "0").count())
        .as("seconds given back")
        .isGreaterThan(0.3);
  }

  private static void compare(Both first, Both last, String pod, Process process) {
    long its = counted(last, process).busyNs() - counted(first, process).busyNs();
    long ours = gpuNs(last, pod) - gpuNs(first, pod);
    assertThat(ours)
        .as("GPU time of %s", pod)
        .isBetween(
            its - (long) (its * OF_THE_WINDOW) - LATE_NS,
            its + (long) (its * OF_THE_WINDOW) + LATE_NS);
    assertThat(seen(last, pod).usedBytes())
        .as("memory of %s by its own notes", pod)
        .isBetween(
            counted(last, process).bytes() - GRANULE, counted(last, process).bytes() + GRANULE);
    assertThat(seen(last, pod).listedBytes())
        .as("memory of %s by the driver", pod)
        .hasValue(counted(last, process).bytes());
    assertThat(seen(last, pod).processes()).isOne();
  }
}
