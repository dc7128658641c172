package io.vgpu.agent.memory;

import static io.vgpu.agent.testing.ContainersOnDisk.await;
import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.vgpu.agent.shim.Abi;
import io.vgpu.agent.shim.DeviceLimits;
import io.vgpu.agent.shim.ShimVerticle;
import io.vgpu.agent.testing.ContainersOnDisk;
import io.vgpu.event.EventTypes;
import io.vgpu.event.VgpuEvent.ContainerOutOfMemory;
import io.vgpu.event.wire.EventBusPort;
import io.vgpu.model.ContainerRef;
import io.vgpu.model.GpuUuid;
import io.vgpu.model.PodRef;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** From the file that a container writes to what is told of it, through the agent's own lanes. */
class RefusalLooksTest {
  private static final GpuUuid FIRST = new GpuUuid("GPU-11111111-2222-3333-4444-555555555555");
  private static final GpuUuid SECOND = new GpuUuid("GPU-99999999-2222-3333-4444-555555555555");
  private static final ContainerRef MAIN =
      new ContainerRef(new PodRef("team", "train", "uid-1"), "main");
  private static final String SERIES =
      "vgpu_container_memory_refusals_total{container_name=\"main\",device_uuid=\""
          + SECOND
          + "\",node=\"n1\",pod_name=\"train\",pod_namespace=\"team\",vdevice_idx=\"1\"}";

  @TempDir Path root;
  private ContainersOnDisk disk;
  private ShimVerticle shim;
  private PrometheusMeterRegistry meters;
  private ContainersOnDisk.OnDisk main;
  private RefusalLooks looks;

  @BeforeEach
  void start() throws Exception {
    disk = new ContainersOnDisk(root);
    shim = disk.shim();
    meters = disk.meters();
    looks = new RefusalLooks("n1", meters);
    await(shim.beforeFiguresGo(looks::look));
    main = disk.attach(MAIN, limits(FIRST), limits(SECOND));
  }

  @AfterEach
  void stop() throws Exception {
    disk.close();
  }

  private static DeviceLimits limits(GpuUuid uuid) {
    return new DeviceLimits(
        uuid, 0, 132, Set.of(DeviceLimits.Flag.MEMORY_LIMIT), 1 << 30, 1 << 30, 1000, 1000);
  }

  private List<MemoryRefusal> round() throws Exception {
    return await(shim.round(looks::round));
  }

  /** What the library leaves there for the second card. */
  private void refused(long count, long lastBytes) throws Exception {
    long device = Abi.Usage.DEVICES + Abi.USAGE_STRIDE;
    main.usage(device + Abi.UsageDevice.OOM_BYTES, lastBytes, Long.BYTES);
    main.usage(device + Abi.UsageDevice.OOM_COUNT, count, Long.BYTES);
  }

  private static MemoryRefusal news(long count, long lastBytes) {
    return new MemoryRefusal(MAIN, SECOND, count, lastBytes);
  }

  @Test
  void everyRefusalIsCountedHoweverFarTheCountJumps() throws Exception {
    assertThat(round()).isEmpty();
    refused(1, 25 << 20);
    assertThat(round()).containsExactly(news(1, 25 << 20));
    assertThat(round()).as("told once").isEmpty();
    refused(1_000_000, 512);
    assertThat(round()).containsExactly(news(1_000_000, 512));
    assertThat(meters.scrape()).contains(SERIES + " 1000000.0");
  }

  @Test
  void aCountThatFallsOrCannotBeIsNotBelieved() throws Exception {
    refused(10, 1);
    assertThat(round()).hasSize(1);
    refused(4, 1);
    assertThat(round()).isEmpty();
    assertThat(round()).isEmpty();
    refused(-1, 1);
    assertThat(round()).isEmpty();
    refused(RefusalLooks.ABSURD + 1, 1);
    assertThat(round()).isEmpty();
    refused(12, -1);
    assertThat(round()).containsExactly(news(12, Long.MAX_VALUE));
    assertThat(meters.scrape())
        .contains(SERIES + " 12.0")
        .contains("vgpu_container_memory_refusals_ignored_total{cause=\"back\"} 1.0")
        .contains("vgpu_container_memory_refusals_ignored_total{cause=\"absurd\"} 2.0");
  }

  @Test
  void aRestartCountsFromZeroAndHidesNothingBeforeIt() throws Exception {
    refused(5, 7);
    assertThat(round()).hasSize(1);
    refused(6, 8);
    await(shim.resetUsage(MAIN));
    assertThat(round()).as("between the last round and the reset").containsExactly(news(6, 8));
    refused(2, 9);
    assertThat(round()).containsExactly(news(2, 9));
    assertThat(meters.scrape()).contains(SERIES + " 8.0").doesNotContain("cause=\"back\"");
  }

  @Test
  void aContainerThatIsGoneIsToldOfAndItsSeriesEnd() throws Exception {
    assertThat(round()).isEmpty();
    assertThat(meters.scrape()).contains(SERIES + " 0.0");
    refused(3, 4096);
    await(shim.release("uid-1", "main"));
    assertThat(round()).containsExactly(news(3, 4096));
    assertThat(meters.scrape()).doesNotContain(SERIES);
  }

  @Test
  void attachedAgainItIsTheSameContainer() throws Exception {
    refused(3, 4096);
    assertThat(round()).hasSize(1);
    await(shim.attach(MAIN, List.of(limits(FIRST), limits(SECOND))));
    assertThat(round()).isEmpty();
  }

  @Test
  void aShortenedFileSaysNothing() throws Exception {
    Files.write(main.usage(), new byte[100]);
    assertThat(round()).isEmpty();
    assertThat(meters.scrape())
        .contains("vgpu_container_memory_refusals_ignored_total{cause=\"unreadable\"} 1.0");
  }

  @Test
  void theVerticlePublishesItAsAFact() throws Exception {
    EventBusPort bus = new EventBusPort(disk.vertx());
    CompletableFuture<ContainerOutOfMemory> heard = new CompletableFuture<>();
    CompletableFuture<String> told = new CompletableFuture<>();
    bus.on(EventTypes.CONTAINER_OUT_OF_MEMORY, heard::complete);
    RefusalNews news =
        new RefusalNews(
            "n1",
            bus::publish,
            (pod, reason, text) -> told.complete(pod.name() + " " + reason + " " + text),
            Clock.systemUTC(),
            System::nanoTime);
    refused(2, 1 << 20);
    await(disk.vertx().deployVerticle(new RefusalVerticle(shim, news, "n1", meters)));
    ContainerOutOfMemory fact = heard.get(20, TimeUnit.SECONDS);
    assertThat(fact.container()).isEqualTo(MAIN);
    assertThat(fact.gpu()).isEqualTo(SECOND);
    assertThat(fact.count()).isEqualTo(2);
    assertThat(fact.lastBytes()).isEqualTo(1 << 20);
    assertThat(told.get(20, TimeUnit.SECONDS))
        .isEqualTo(
            "train ContainerOutOfMemory container main: 2 allocations of device memory refused"
                + " so far on "
                + SECOND
                + ", the last of 1048576 bytes");
  }
}
