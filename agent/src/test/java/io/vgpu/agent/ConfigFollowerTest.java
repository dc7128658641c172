package io.vgpu.agent;

import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.Vertx;
import io.vgpu.agent.ConfigFollower.Outcome;
import io.vgpu.agent.config.NodeFileEntry;
import io.vgpu.agent.gpu.GpuInventory;
import io.vgpu.agent.gpu.NodeGpus;
import io.vgpu.agent.testing.FakeGpuDriver;
import io.vgpu.event.EventTypes;
import io.vgpu.event.VgpuEvent.GpuInventoryChanged;
import io.vgpu.event.wire.EventBusPort;
import io.vgpu.model.GpuDevice;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Clock;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@DisplayName("13-51: the node's file is followed under the running agent")
class ConfigFollowerTest {
  private record Told(Outcome outcome, String text) {}

  @TempDir Path dir;
  private final Vertx vertx = Vertx.vertx();
  private final EventBusPort bus = new EventBusPort(vertx);
  private final BlockingQueue<Told> told = new LinkedBlockingQueue<>();
  private final BlockingQueue<GpuInventoryChanged> inventories = new LinkedBlockingQueue<>();
  private final CommonFlags common = new CommonFlags();
  private NodeGpus gpus;

  @BeforeEach
  void follow() throws Exception {
    write("[{nodeName: \"n1\", deviceSplitCount: 10, excludeDevices: [0]}]");
    common.nodeName = "n1";
    common.nodeConfigPath = file();
    NodeFileEntry entry = ConfigReader.entry(common);
    var config = ConfigReader.read(common, new PluginFlags(), new MonitorFlags(), entry);
    gpus =
        new NodeGpus(
            new FakeGpuDriver(3).discover(),
            config.cards().division(),
            Optional.empty(),
            config.cards().excluded());
    bus.on(EventTypes.GPU_INVENTORY_CHANGED, inventories::add);
    vertx
        .deployVerticle(
            new ConfigFollower(
                new ConfigFollower.Source(
                    file(),
                    "n1",
                    entry,
                    e -> ConfigReader.read(common, new PluginFlags(), new MonitorFlags(), e)),
                gpus,
                bus,
                (outcome, text) -> told.add(new Told(outcome, text)),
                Duration.ofMillis(5),
                Clock.systemUTC()))
        .toCompletionStage()
        .toCompletableFuture()
        .get(20, TimeUnit.SECONDS);
  }

  @AfterEach
  void stop() throws Exception {
    vertx.close().toCompletionStage().toCompletableFuture().get(20, TimeUnit.SECONDS);
  }

  private Path file() {
    return dir.resolve("nodes.json");
  }

  /** As a ConfigMap is: the new one stands beside the old, then takes its name. */
  private void write(String text) throws IOException {
    Path next = Files.writeString(dir.resolve("next"), text);
    Files.move(next, file(), StandardCopyOption.REPLACE_EXISTING, StandardCopyOption.ATOMIC_MOVE);
  }

  private static <T> T take(BlockingQueue<T> queue) throws InterruptedException {
    T next = queue.poll(20, TimeUnit.SECONDS);
    assertThat(next).isNotNull();
    return next;
  }

  @Test
  void howCardsAreDividedAndWhichAreLeftOutAppliesAtOnce() throws Exception {
    write("[{nodeName: \"n1\", deviceSplitCount: 4, deviceMemoryScaling: 2, excludeDevices: [1]}]");
    assertThat(take(inventories).inventory()).isEqualTo(gpus.published());
    Told one = take(told);
    assertThat(one.outcome()).isEqualTo(Outcome.APPLIED);
    assertThat(one.text())
        .contains("nodes.json: applied: deviceSplitCount, deviceMemoryScaling, excludeDevices");
    assertThat(gpus.published().devices()).extracting(GpuDevice::number).containsOnly(4);
    assertThat(gpus.published().devices()).extracting(GpuDevice::memory).containsOnly(81920L);
    assertThat(gpus.cards())
        .extracting(GpuInventory.Card::healthy)
        .containsExactly(true, false, true);

    write("[]"); // the flags again
    assertThat(take(inventories).inventory().config().deviceSplit()).isEqualTo(10);
    assertThat(gpus.cards()).allMatch(GpuInventory.Card::healthy);
  }

  @Test
  void aFileThatBecameUnusableChangesNothingAndIsToldOnce() throws Exception {
    write("[{nodeName: \"n1\",\n deviceSplitCont: 4}]");
    Told refused = take(told);
    assertThat(refused.outcome()).isEqualTo(Outcome.REFUSED);
    assertThat(refused.text())
        .contains("stay as they were", "line 2: unknown key \"deviceSplitCont\"");
    write("[{nodeName: \"n1\",\n deviceSplitCont: 4 }]"); // the same fault, other bytes
    Files.delete(file());
    assertThat(take(told).text()).contains("NoSuchFile");
    assertThat(gpus.published().config().deviceSplit()).isEqualTo(10);
    assertThat(gpus.cards().getFirst().healthy()).isFalse();

    write("[{nodeName: \"n1\", deviceSplitCount: 3, excludeDevices: [0]}]");
    assertThat(take(told).outcome()).isEqualTo(Outcome.APPLIED);
    assertThat(gpus.published().config().deviceSplit()).isEqualTo(3);
  }

  @Test
  void whatWaitsForARestartIsNamedAndTheRestApplies() throws Exception {
    write(
        "[{nodeName: \"n1\", deviceSplitCount: 5, deviceMemoryFactor: 256, mpsDevices: \"all\"}]");
    Told later = take(told);
    assertThat(later.outcome()).isEqualTo(Outcome.RESTART);
    assertThat(later.text()).endsWith("the rest does now: deviceMemoryFactor, mpsDevices");
    assertThat(gpus.published().config().deviceSplit()).isEqualTo(5);
    assertThat(gpus.published().config().memoryFactor()).isEqualTo(1);

    write("[{nodeName: \"n1\", deviceSplitCount: 6}]"); // taken back
    assertThat(take(told).outcome()).isEqualTo(Outcome.APPLIED);
  }

  @Test
  void anEntryOfAnotherNodeIsNoNews() throws Exception {
    write(
        "[{nodeName: \"n2\", deviceSplitCount: 3}, {nodeName: \"n1\", deviceSplitCount: 10, excludeDevices: \"0-0\"}]");
    write("[{nodeName: \"n1\", deviceSplitCount: 9, excludeDevices: [0]}]");
    assertThat(take(told).text()).endsWith("applied: deviceSplitCount");
    assertThat(told).isEmpty();
  }
}
