package io.vgpu.agent.shim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vgpu.agent.shim.ShimWriter.Owner;
import io.vgpu.agent.shim.ShimWriter.ShimFiles;
import io.vgpu.model.ContainerRef;
import io.vgpu.model.PodRef;
import io.vgpu.runtime.Lane;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ShimVerticleTest {
  private static final long BOOT = 0x1234;
  private static final List<DeviceLimits> TWO = LimitsRuleTest.twoCards();
  private static final PodRef POD = new PodRef("ns", "p", "11111111-2222-3333-4444-555555555555");
  private static final ContainerRef MAIN = new ContainerRef(POD, "main");

  @TempDir Path root;
  private Vertx vertx;
  private ShimPaths paths;
  private final List<String> written = Collections.synchronizedList(new ArrayList<>());
  private ShimVerticle shim;

  @BeforeEach
  void start() throws Exception {
    vertx = Vertx.vertx();
    paths =
        new ShimPaths(
            Files.createDirectory(root.resolve("M")),
            Path.of("/host/M"),
            Files.createDirectory(root.resolve("T")));
    shim = agent(BOOT, Instant.ofEpochSecond(1000));
  }

  @AfterEach
  void stop() throws Exception {
    await(vertx.close());
  }

  private ShimVerticle agent(long boot, Instant now) throws Exception {
    SimpleMeterRegistry meters = new SimpleMeterRegistry();
    ShimVerticle verticle =
        new ShimVerticle(
            paths,
            boot,
            new Lane(vertx, "files", 64, Duration.ofSeconds(5), meters),
            new Lane(vertx, "regions", 64, Duration.ofSeconds(5), meters),
            Clock.fixed(now, ZoneOffset.UTC),
            written::add);
    await(vertx.deployVerticle(verticle));
    return verticle;
  }

  private static <T> T await(Future<T> future) throws Exception {
    return future.toCompletionStage().toCompletableFuture().get(20, TimeUnit.SECONDS);
  }

  private Path config(String name) {
    return paths.managerDir().resolve(POD.uid() + "_main").resolve(name);
  }

  private Path usage(String name) {
    return paths.usageDir().resolve(POD.uid() + "_main").resolve(name);
  }

  private static String mode(Path path) throws IOException {
    return PosixFilePermissions.toString(Files.getPosixFilePermissions(path));
  }

  private static long epoch(Path file) throws IOException {
    return ByteBuffer.wrap(Files.readAllBytes(file))
        .order(ByteOrder.LITTLE_ENDIAN)
        .getLong(Abi.Header.WRITER_EPOCH);
  }

  @Test
  void everyFileIsThereBeforeTheAnswerWithItsModeAndSize() throws Exception {
    ShimFiles files = await(shim.attach(MAIN, TWO));

    assertThat(files.directory()).isEqualTo(Path.of("/host/M/" + POD.uid() + "_main"));
    assertThat(files.usage()).isEqualTo(usage("usage"));
    assertThat(files.usageLock()).isEqualTo(usage("usage.lock"));
    assertThat(mode(config(""))).isEqualTo("rwxr-xr-x");
    assertThat(mode(config("limits"))).isEqualTo("rw-r--r--");
    assertThat(config("limits")).hasSize(Abi.LIMITS_BYTES);
    assertThat(mode(config("load"))).isEqualTo("rw-r--r--");
    assertThat(config("load")).hasSize(Abi.LOAD_BYTES);
    assertThat(mode(config("usage"))).isEqualTo("rw-r--r--");
    assertThat(config("usage")).isEmptyFile();
    assertThat(mode(config("usage.lock"))).isEqualTo("rw-r--r--");
    assertThat(config("usage.lock")).isEmptyFile();
    assertThat(mode(usage(""))).isEqualTo("rwx--x--x");
    assertThat(mode(usage("usage"))).isEqualTo("rw-rw-rw-");
    assertThat(usage("usage")).hasSize(Abi.USAGE_BYTES);
    assertThat(mode(usage("usage.lock"))).isEqualTo("rw-rw-rw-");
    assertThat(usage("usage.lock")).hasSize(Abi.USAGE_LOCK_BYTES);
    assertThat(Files.readAllBytes(config("limits"))).startsWith('V', 'L', 'I', 'M');
    assertThat(Files.readAllBytes(config("load"))).startsWith('V', 'L', 'O', 'D');
    assertThat(Files.readAllBytes(usage("usage"))).startsWith('V', 'U', 'S', 'G');
    try (var left = Files.list(config(""))) {
      assertThat(left.map(p -> p.getFileName().toString()))
          .containsExactlyInAnyOrder("limits", "load", "usage", "usage.lock");
    }
  }

  @Test
  void theSameLimitsAgainChangeNothing() throws Exception {
    await(shim.attach(MAIN, TWO));
    byte[] before = Files.readAllBytes(config("limits"));
    Object inode = Files.getAttribute(config("limits"), "unix:ino");
    written.clear();

    await(shim.attach(MAIN, TWO));

    assertThat(written).isEmpty();
    assertThat(Files.readAllBytes(config("limits"))).isEqualTo(before);
    assertThat(Files.getAttribute(config("limits"), "unix:ino")).isEqualTo(inode);
  }

  @Test
  void otherLimitsOfTheSameCardsAreWrittenInPlace() throws Exception {
    await(shim.attach(MAIN, TWO));
    Object inode = Files.getAttribute(config("limits"), "unix:ino");
    DeviceLimits first = TWO.get(0);
    DeviceLimits less =
        new DeviceLimits(
            first.uuid(),
            first.nvmlIndex(),
            first.smCount(),
            first.flags(),
            1 << 20,
            1 << 20,
            100,
            100);

    await(shim.attach(MAIN, List.of(less, TWO.get(1))));

    assertThat(Files.getAttribute(config("limits"), "unix:ino")).isEqualTo(inode);
    assertThat(await(shim.carries(MAIN, List.of(less, TWO.get(1))))).isTrue();
    assertThat(await(shim.carries(MAIN, TWO))).isFalse();
  }

  @Test
  void otherCardsReplaceTheFiles() throws Exception {
    await(shim.attach(MAIN, TWO));
    Object inode = Files.getAttribute(config("limits"), "unix:ino");

    await(shim.attach(MAIN, List.of(TWO.get(1))));

    assertThat(Files.getAttribute(config("limits"), "unix:ino")).isNotEqualTo(inode);
    assertThat(await(shim.carries(MAIN, List.of(TWO.get(1))))).isTrue();
  }

  @Test
  void aLaterAgentTakesTheFilesOverAndLeavesUsageAlone() throws Exception {
    await(shim.attach(MAIN, TWO));
    try (var file = Files.newByteChannel(usage("usage"), StandardOpenOption.WRITE)) {
      file.position(5000);
      file.write(ByteBuffer.wrap(new byte[] {9}));
    }
    byte[] inUse = Files.readAllBytes(usage("usage"));

    ShimVerticle later = agent(BOOT, Instant.ofEpochSecond(2000));
    assertThat(await(later.carries(MAIN, TWO))).isTrue();
    await(later.attach(MAIN, TWO));

    assertThat(epoch(config("limits"))).isEqualTo(2000_000_000_000L);
    assertThat(epoch(config("load"))).isEqualTo(2000_000_000_000L);
    assertThat(Files.readAllBytes(usage("usage"))).isEqualTo(inUse);
  }

  @Test
  void afterARebootEverythingIsMadeAnew() throws Exception {
    await(shim.attach(MAIN, TWO));
    Files.delete(usage("usage"));
    Files.delete(usage("usage.lock"));
    Files.delete(usage(""));

    await(agent(BOOT + 1, Instant.ofEpochSecond(3000)).attach(MAIN, TWO));

    assertThat(epoch(config("limits"))).isEqualTo(3000_000_000_000L);
    assertThat(usage("usage")).hasSize(Abi.USAGE_BYTES);
  }

  @Test
  void resetZeroesUsageInPlaceAndUndoesWhatTheContainerDidToIt() throws Exception {
    await(shim.attach(MAIN, TWO));
    Object inode = Files.getAttribute(usage("usage"), "unix:ino");
    long before = epoch(usage("usage"));
    Files.write(usage("usage"), new byte[Abi.USAGE_BYTES + 77]);
    Files.write(usage("usage.lock"), new byte[3]);

    await(shim.resetUsage(MAIN));

    assertThat(Files.getAttribute(usage("usage"), "unix:ino")).isEqualTo(inode);
    assertThat(usage("usage")).hasSize(Abi.USAGE_BYTES);
    assertThat(usage("usage.lock")).hasSize(Abi.USAGE_LOCK_BYTES);
    assertThat(epoch(usage("usage"))).isGreaterThan(before);
    assertThat(UsageReader.inspect(usage("usage"))).isInstanceOf(UsageReader.State.Sound.class);
  }

  @Test
  void ownersAreNamedUntilTheyAreReleased() throws Exception {
    await(shim.attach(MAIN, TWO));
    await(shim.attach(new ContainerRef(POD, "driver"), TWO));
    Files.createDirectory(paths.managerDir().resolve("checkpoints"));
    assertThat(await(shim.owners()))
        .containsExactlyInAnyOrder(new Owner(POD.uid(), "main"), new Owner(POD.uid(), "driver"));

    await(shim.release(POD.uid(), "main"));
    await(shim.release(POD.uid(), "main"));

    assertThat(await(shim.owners())).containsExactly(new Owner(POD.uid(), "driver"));
    assertThat(config("")).doesNotExist();
    assertThat(usage("")).doesNotExist();
    assertThat(await(shim.carries(MAIN, TWO))).isFalse();
  }

  @Test
  void aUidThatLeavesTheDirectoryIsRefused() {
    PodRef evil = new PodRef("ns", "p", "../../etc/x");
    assertThatThrownBy(() -> await(shim.attach(new ContainerRef(evil, "main"), TWO)))
        .hasMessageContaining("pod UID \"../../etc/x\"");
    assertThat(root.resolve("etc")).doesNotExist();
  }

  @Test
  void twoCallsForOneContainerDoNotOverlap() throws Exception {
    Future<ShimFiles> first = shim.attach(MAIN, TWO);
    assertThatThrownBy(() -> await(shim.attach(MAIN, TWO)))
        .hasMessageContaining("another call for");
    await(first);
    await(shim.attach(MAIN, TWO));
  }

  @Test
  void containersNamedLikeOurOwnDirectoriesGetAnother() {
    assertThat(ShimPaths.directoryInContainer("driver")).isEqualTo("driver_");
    assertThat(ShimPaths.directoryInContainer("registry")).isEqualTo("registry_");
    assertThat(ShimPaths.directoryInContainer("main")).isEqualTo("main");
  }
}
