package io.vgpu.agent.deviceplugin;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.vertx.core.Vertx;
import io.vgpu.agent.inject.ListStrategy;
import io.vgpu.agent.kubelet.FakeKubelet;
import io.vgpu.event.VgpuEvent.GpuHealthChanged;
import io.vgpu.event.wire.EventBusPort;
import io.vgpu.model.NodeConfig;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;
import k8s.deviceplugin.v1beta1.DevicePluginOptions;
import k8s.deviceplugin.v1beta1.RegisterRequest;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Resources beside vgpu-number between a fake kubelet and the cards, on real sockets. */
class PlainPluginsTest {
  private static final String CORES = TestPod.NAMES.vgpuCores();
  private static final String MEMORY = TestPod.NAMES.vgpuMemory();

  @TempDir Path dir;
  private final Vertx vertx = Vertx.vertx();
  private final EventBusPort bus = new EventBusPort(vertx);
  private final FixedInventory inventory = new FixedInventory(2, new NodeConfig(4, 1, 1024, 1));
  private FakeKubelet kubelet;

  @BeforeEach
  void start() throws Exception {
    kubelet = new FakeKubelet(dir, CORES, 7);
    kubelet.start();
  }

  @AfterEach
  void stop() throws Exception {
    kubelet.close();
    Rig.done(vertx.close());
  }

  private PlainPlugins plugins(boolean cores, boolean memory) {
    PlainPlugins plugins =
        new PlainPlugins(
            new PlainPlugins.Wanted(cores, memory, false),
            TestPod.NAMES,
            kubelet.pluginDir(),
            inventory,
            Rig.injection(Set.of(ListStrategy.ENVVAR), p -> true),
            bus,
            System::nanoTime,
            new SimpleMeterRegistry());
    plugins.start();
    return plugins;
  }

  @Test
  void coresAreServedOnASocketOfTheirOwnWithOptionsInBothPlaces_13_15() throws Exception {
    PlainPlugins plugins = plugins(true, false);

    RegisterRequest registration = kubelet.nextRegistration();
    assertThat(registration.getResourceName()).isEqualTo(CORES);
    assertThat(registration.getEndpoint()).isEqualTo("nvidia-vgpu-core.sock");
    assertThat(registration.hasOptions()).isTrue();
    assertThat(registration.getOptions())
        .isEqualTo(kubelet.options())
        .isEqualTo(DevicePluginOptions.getDefaultInstance());
    assertThat(kubelet.nextList()).hasSize(200).containsEntry("AA", "Healthy");
    assertThat(kubelet.allocateUnasked(List.of("AA", "AQ"))).isEmpty();
    assertThat(plugins.missing()).isEmpty();

    inventory.sick(1, true);
    bus.publish(
        new GpuHealthChanged(Instant.EPOCH, TestPod.NODE, FixedInventory.uuid(1), false, "XID 79"));
    Map<String, String> now = kubelet.nextList();
    assertThat(now.values().stream().filter(h -> h.equals("Unhealthy"))).hasSize(100);
    assertThat(now).containsEntry("AA", "Healthy").containsEntry("AQ", "Unhealthy");
    plugins.stop();
  }

  @Test
  void memoryIsCountedInUnitsOfTheFactor() throws Exception {
    PlainPlugins plugins = plugins(false, true);

    RegisterRequest registration = kubelet.nextRegistration();
    assertThat(registration.getResourceName()).isEqualTo(MEMORY);
    assertThat(registration.getEndpoint()).isEqualTo("nvidia-vgpu-memory.sock");
    assertThat(kubelet.nextList()).hasSize(24);
    plugins.stop();
  }

  @Test
  void aResourceThatCannotListenTakesNoOtherWithItAndComesWhenItCan_13_22() throws Exception {
    Path taken = kubelet.pluginDir().resolve("nvidia-vgpu-core.sock");
    Files.createDirectories(taken.resolve("somebody's")); // no rename onto that
    PlainPlugins plugins = plugins(true, true);

    assertThat(kubelet.nextRegistration().getResourceName()).isEqualTo(MEMORY);
    assertThat(kubelet.nextList()).hasSize(24);
    assertThat(plugins.missing()).containsExactly(CORES + " registered with the kubelet");

    Files.delete(taken.resolve("somebody's"));
    Files.delete(taken);
    assertThat(kubelet.nextRegistration().getResourceName()).isEqualTo(CORES);
    plugins.stop();
  }

  @Test
  void nothingIsRegisteredWithTheGatesOff() throws Exception {
    PlainPlugins plugins = plugins(false, false);

    assertThat(plugins.missing()).isEmpty();
    assertThat(kubelet.pluginDir()).isDirectoryNotContaining("glob:**nvidia*");
    plugins.stop();
  }
}
