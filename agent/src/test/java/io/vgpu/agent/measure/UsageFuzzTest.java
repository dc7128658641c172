package io.vgpu.agent.measure;

import static io.vgpu.agent.testing.ContainersOnDisk.await;
import static org.assertj.core.api.Assertions.assertThat;

import io.vgpu.agent.gpu.CardSamples;
import io.vgpu.agent.gpu.DeviceSelection;
import io.vgpu.agent.gpu.NodeGpus;
import io.vgpu.agent.posix.Futex;
import io.vgpu.agent.refund.RefundVerticle;
import io.vgpu.agent.shim.Abi;
import io.vgpu.agent.shim.DeviceLimits;
import io.vgpu.agent.shim.DeviceLimits.Flag;
import io.vgpu.agent.shim.ShimWriter.Owner;
import io.vgpu.agent.testing.ContainersOnDisk;
import io.vgpu.agent.testing.ContainersOnDisk.OnDisk;
import io.vgpu.agent.testing.FakeGpuDriver;
import io.vgpu.model.ContainerRef;
import io.vgpu.model.NodeConfig;
import io.vgpu.model.PodRef;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.lifecycle.AfterProperty;
import net.jqwik.api.lifecycle.BeforeProperty;

/**
 * 13-32: whatever a container, or one who got at the folder, makes of {@code usage}: every look and
 * every scrape ends, tells nothing impossible, and writes to no other file.
 */
class UsageFuzzTest {
  private static final ContainerRef MAIN =
      new ContainerRef(new PodRef("team", "evil", "0a1b2c3d"), "main");
  private static final ContainerRef GOOD =
      new ContainerRef(new PodRef("team", "good", "0a1b2c3e"), "main");
  private static final DeviceLimits LIMITS =
      new DeviceLimits(
          FakeGpuDriver.uuid(0), 0, 108, Set.of(Flag.COMPUTE_LIMIT), 1 << 30, 1 << 30, 200, 200);

  private final FakeGpuDriver driver = new FakeGpuDriver(1);
  private final Measurements measurements = new Measurements(System::nanoTime);
  private Path root = Path.of("");
  private Path secret = Path.of("");
  private Optional<ContainersOnDisk> made = Optional.empty();
  private Optional<MeasureRound> round = Optional.empty();

  @BeforeProperty
  void start() throws Exception {
    root = Files.createTempDirectory("usage-fuzz");
    secret = Files.writeString(root.resolve("secret"), "nobody's but the node's");
    ContainersOnDisk disk = new ContainersOnDisk(Files.createDirectory(root.resolve("node")));
    made = Optional.of(disk);
    round =
        Optional.of(
            new MeasureRound(
                List.of(FakeGpuDriver.uuid(0)),
                new CardSamples(),
                new Listings(),
                System::nanoTime,
                disk.meters()));
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
    await(
        disk.vertx()
            .deployVerticle(
                new RefundVerticle(
                    disk.shim(),
                    driver.discover(),
                    new CardSamples(),
                    new Futex(),
                    System::nanoTime,
                    disk.meters())));
    disk.attach(GOOD, LIMITS);
  }

  @AfterProperty
  void stop() throws Exception {
    disk().close();
    try (Stream<Path> all = Files.walk(root)) {
      for (Path p : all.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(p);
      }
    }
  }

  private ContainersOnDisk disk() {
    return made.orElseThrow();
  }

  @Property(tries = 150)
  void nothingThatAContainerWritesStopsOrMisleadsALook(@ForAll long seed) throws Exception {
    Random random = new Random(seed);
    OnDisk evil = disk().attach(MAIN, LIMITS);
    for (int i = 0; i < 4; i++) {
      write(evil.usage(), random);
      check(look());
    }
    check(look());
  }

  @Property(tries = 40)
  void nothingThatStandsInThePlaceOfTheFileIsFollowed(@ForAll long seed) throws Exception {
    Random random = new Random(seed);
    OnDisk evil = disk().attach(MAIN, LIMITS);
    Path usage = evil.usage();
    Path folder = Optional.ofNullable(usage.getParent()).orElseThrow();
    if (random.nextBoolean()) {
      check(look()); // it is open already
    }
    swap(usage, folder, random);
    check(look());
    try {
      disk().attach(MAIN, LIMITS); // an agent that starts anew opens it again
    } catch (ExecutionException e) {
      assertThat(e).hasCauseInstanceOf(IOException.class);
    }
    check(look());
    assertThat(secret).hasContent("nobody's but the node's");
    await(disk().shim().release(MAIN.pod().uid(), MAIN.container()));
    clear(folder);
  }

  private Measured look() throws Exception {
    MeasureRound.Found found = await(disk().shim().round(round.orElseThrow()::run));
    measurements.put(found.measured());
    for (Owner owner : found.misshapen()) {
      await(disk().shim().setBack(owner).otherwiseEmpty());
    }
    return found.measured();
  }

  /** Impossible figures, and those of the neighbour. */
  private void check(Measured measured) {
    for (ContainerFigure f : measured.containers()) {
      assertThat(f.gpuNs()).isNotNegative();
      f.seen()
          .ifPresent(
              s -> {
                assertThat(s.usedBytes())
                    .isBetween(0L, Abi.SLOTS * (SlotFigures.ABSURD + (1L << 44)));
                assertThat(s.virtualBytes()).isBetween(0L, Abi.SLOTS * (1L << 44));
                assertThat(s.processes()).isBetween(0, Abi.SLOTS);
                assertThat(s.permille().orElse(0)).isBetween(0, Abi.PERMILLE_FULL);
              });
    }
    assertThat(measured.containers())
        .filteredOn(f -> f.container().equals(GOOD))
        .singleElement()
        .satisfies(
            f -> {
              assertThat(f.gpuNs()).isZero();
              assertThat(f.seen()).map(ContainerFigure.Seen::usedBytes).hasValue(0L);
            });
    assertThat(disk().meters().scrape())
        .contains("container_vgpu_device_memory_limit_in_bytes{")
        .doesNotContain("NaN")
        .doesNotContainPattern("(?m)^(container_vgpu|vgpu_container)[^}]*} -");
  }

  private static void write(Path usage, Random random) throws IOException {
    try (FileChannel file =
        FileChannel.open(usage, StandardOpenOption.WRITE, StandardOpenOption.READ)) {
      switch (random.nextInt(6)) {
        case 0 -> file.truncate(random.nextInt(Abi.USAGE_BYTES));
        case 1 -> bytes(file, random, Abi.USAGE_BYTES + random.nextInt(1 << 22), 64);
        case 2 -> bytes(file, random, 0, Abi.USAGE_BYTES);
        case 3 -> {
          bytes(file, random, Abi.Header.SLOT_HIGH_WATER, 4);
          bytes(file, random, Abi.SLOTS_OFFSET, 70 * Abi.SLOT_BYTES);
        }
        case 4 -> {
          bytes(file, random, Abi.Usage.DEVICES, Abi.USAGE_STRIDE);
          bytes(file, random, Abi.RINGS_OFFSET, 3 * Abi.RING_BYTES);
        }
        default -> {
          // few slots that look true, with one word of each kind anywhere
          file.write(ByteBuffer.wrap(new byte[] {3, 0, 0, 0}), Abi.Header.SLOT_HIGH_WATER);
          for (int k = 0; k < 3; k++) {
            long slot = Abi.SLOTS_OFFSET + (long) k * Abi.SLOT_BYTES;
            file.write(ByteBuffer.wrap(new byte[] {Abi.SLOT_LIVE, 0, 0, 0}), slot);
            bytes(file, random, slot + Abi.UsageSlot.BYTES, 8);
            bytes(file, random, slot + Abi.UsageSlot.OVERHEAD_PAGES, 4);
            bytes(file, random, slot + Abi.UsageSlot.MANAGED_PAGES, 4);
          }
        }
      }
    }
  }

  private static void bytes(FileChannel file, Random random, long at, int count)
      throws IOException {
    byte[] some = new byte[count];
    random.nextBytes(some);
    file.write(ByteBuffer.wrap(some), at);
  }

  private void swap(Path usage, Path folder, Random random) throws Exception {
    Files.delete(usage);
    switch (random.nextInt(7)) {
      case 0 -> Files.createSymbolicLink(usage, secret);
      case 1 -> Files.createSymbolicLink(usage, usage);
      case 2 -> Files.createSymbolicLink(usage, Path.of("/dev/zero"));
      case 3 -> fifo(usage);
      case 4 -> Files.createDirectory(usage);
      case 5 -> {
        Files.move(folder, root.resolve("away-" + random.nextLong()));
        Files.createSymbolicLink(folder, root);
      }
      default -> {} // nothing is there
    }
  }

  private static void fifo(Path at) throws Exception {
    Process mkfifo = new ProcessBuilder("mkfifo", at.toString()).start();
    assertThat(mkfifo.waitFor(20, TimeUnit.SECONDS)).isTrue();
    assertThat(mkfifo.exitValue()).isZero();
  }

  private static void clear(Path folder) throws IOException {
    if (Files.isSymbolicLink(folder)) {
      Files.delete(folder);
    }
  }
}
