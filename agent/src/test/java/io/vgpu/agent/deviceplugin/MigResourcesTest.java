package io.vgpu.agent.deviceplugin;

import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.ManagedChannel;
import io.grpc.stub.StreamObserver;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.vertx.core.Vertx;
import io.vgpu.agent.gpu.DeviceSelection;
import io.vgpu.agent.gpu.NodeGpus;
import io.vgpu.agent.gpu.PhysicalGpu;
import io.vgpu.agent.gpu.PhysicalGpu.MigDevice;
import io.vgpu.agent.inject.ListStrategy;
import io.vgpu.agent.kubelet.FakeKubelet;
import io.vgpu.agent.kubelet.KubeletTransport;
import io.vgpu.event.VgpuEvent.GpuHealthChanged;
import io.vgpu.event.wire.EventBusPort;
import io.vgpu.model.GpuUuid;
import io.vgpu.model.NodeConfig;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import k8s.deviceplugin.v1beta1.ContainerAllocateResponse;
import k8s.deviceplugin.v1beta1.Device;
import k8s.deviceplugin.v1beta1.DevicePluginGrpc;
import k8s.deviceplugin.v1beta1.Empty;
import k8s.deviceplugin.v1beta1.ListAndWatchResponse;
import k8s.deviceplugin.v1beta1.RegisterRequest;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class MigResourcesTest {
  private static final GpuUuid CARD = new GpuUuid("GPU-a");
  private static final GpuUuid SMALL_0 = new GpuUuid("MIG-s0");
  private static final GpuUuid SMALL_1 = new GpuUuid("MIG-s1");
  private static final GpuUuid MEDIA = new GpuUuid("MIG-m");
  private static final GpuUuid BIG = new GpuUuid("MIG-b");

  @TempDir Path dir;
  private final Vertx vertx = Vertx.vertx();
  private final EventBusPort bus = new EventBusPort(vertx);
  private final NodeGpus gpus =
      new NodeGpus(
          List.of(
              card(
                  0,
                  CARD,
                  1,
                  new MigDevice(SMALL_0, "1g.10gb", 1, 0, 16, 9728),
                  new MigDevice(SMALL_1, "1g.10gb", 2, 0, 16, 9728),
                  new MigDevice(MEDIA, "1g.10gb+me", 3, 0, 16, 9728)),
              card(1, new GpuUuid("GPU-b"), -1, new MigDevice(BIG, "3g.40gb", 1, 0, 60, 40448)),
              card(2, new GpuUuid("GPU-c"), 0)),
          NodeConfig.DEFAULT,
          Optional.empty(),
          DeviceSelection.NONE);

  private static PhysicalGpu card(int index, GpuUuid uuid, int numa, MigDevice... slices) {
    return new PhysicalGpu(
        index,
        index,
        uuid,
        "NVIDIA H100",
        80L << 30,
        "0000:01:00.0",
        numa,
        9.0f,
        132,
        slices.length > 0,
        List.of(slices));
  }

  @AfterEach
  void stop() throws Exception {
    Rig.done(vertx.close());
  }

  private List<PlainPlugin.Resource> resources() {
    return new MigResources(gpus, Rig.injection(Set.of(ListStrategy.ENVVAR), p -> true))
        .all(TestPod.NAMES);
  }

  private static Map<String, String> health(ListAndWatchResponse list) {
    Map<String, String> health = new TreeMap<>();
    list.getDevicesList().forEach(d -> health.put(d.getID(), d.getHealth()));
    return health;
  }

  @Test
  void thereIsOneResourceForEachProfile() {
    assertThat(resources())
        .extracting(PlainPlugin.Resource::name)
        .containsExactly(
            "nvidia.com/mig-1g.10gb", "nvidia.com/mig-1g.10gb.me", "nvidia.com/mig-3g.40gb");
    assertThat(resources())
        .extracting(PlainPlugin.Resource::endpoint)
        .containsExactly(
            "nvidia-mig-1g.10gb.sock", "nvidia-mig-1g.10gb.me.sock", "nvidia-mig-3g.40gb.sock");
    ListAndWatchResponse small = resources().get(0).devices().get();
    assertThat(small.getDevicesList())
        .extracting(Device::getID)
        .containsExactly(SMALL_0.value(), SMALL_1.value());
    assertThat(small.getDevices(0).getTopology().getNodes(0).getID()).isEqualTo(1);
    assertThat(resources().get(2).devices().get().getDevices(0).hasTopology()).isFalse();
  }

  @Test
  void aSliceIsSickByItselfOrWithItsCard() {
    assertThat(gpus.markUnhealthy(SMALL_1, "XID 63")).isTrue();
    assertThat(health(resources().get(0).devices().get()))
        .containsEntry(SMALL_0.value(), "Healthy")
        .containsEntry(SMALL_1.value(), "Unhealthy");
    assertThat(gpus.markUnhealthy(CARD, "XID 79")).isTrue();
    assertThat(health(resources().get(0).devices().get()).values()).containsOnly("Unhealthy");
    assertThat(health(resources().get(2).devices().get())).containsEntry(BIG.value(), "Healthy");
  }

  @Test
  void anAnswerNamesTheSlicesAndUnknownOnesAreRefused() {
    PlainPlugin.Resource small = resources().get(0);
    assertThat(small.answer().apply(List.of(SMALL_1.value())))
        .isInstanceOfSatisfying(
            Outcome.Given.class,
            given ->
                assertThat(((ContainerAllocateResponse) given.value()).getEnvsMap())
                    .isEqualTo(Map.of("NVIDIA_VISIBLE_DEVICES", SMALL_1.value())));
    assertThat(small.answer().apply(List.of(BIG.value())))
        .isInstanceOfSatisfying(
            Outcome.Refused.class,
            refused -> assertThat(refused.text()).contains("no MIG slice 1g.10gb of this node"));
  }

  /** The kubelet's end of one plugin's stream. */
  private static final class Watcher implements StreamObserver<ListAndWatchResponse> {
    final BlockingQueue<Map<String, String>> lists = new ArrayBlockingQueue<>(16);

    @Override
    public void onNext(ListAndWatchResponse list) {
      lists.add(health(list));
    }

    @Override
    public void onError(Throwable t) {
      // the plugin was stopped
    }

    @Override
    public void onCompleted() {}

    Map<String, String> next() throws InterruptedException {
      Map<String, String> list = lists.poll(30, TimeUnit.SECONDS);
      assertThat(list).as("a list in time").isNotNull();
      return list;
    }
  }

  @Test
  void eachProfileHearsOfItsOwnAndOneThatStopsTakesNothingFromOthers_13_20() throws Exception {
    try (FakeKubelet kubelet = new FakeKubelet(dir, "unused", 7);
        KubeletTransport transport = new KubeletTransport()) {
      kubelet.start();
      PlainPlugins plugins =
          new PlainPlugins(
              new PlainPlugins.Wanted(false, false, true),
              TestPod.NAMES,
              kubelet.pluginDir(),
              gpus,
              Rig.injection(Set.of(ListStrategy.ENVVAR), p -> true),
              bus,
              System::nanoTime,
              new SimpleMeterRegistry());
      plugins.start();
      Map<String, RegisterRequest> registered = new TreeMap<>();
      while (registered.size() < 3) {
        RegisterRequest r = kubelet.nextRegistration();
        registered.put(r.getResourceName(), r);
      }
      Map<String, ManagedChannel> channels = new TreeMap<>();
      Map<String, Watcher> watchers = new TreeMap<>();
      for (RegisterRequest r : registered.values()) {
        ManagedChannel channel = transport.channel(kubelet.pluginDir().resolve(r.getEndpoint()));
        Watcher watcher = new Watcher();
        channels.put(r.getResourceName(), channel);
        watchers.put(r.getResourceName(), watcher);
        DevicePluginGrpc.newStub(channel).listAndWatch(Empty.getDefaultInstance(), watcher);
        watcher.next();
      }
      // the watcher of another profile goes away
      var unused = of(channels, "1g.10gb.me").shutdownNow();

      sick(SMALL_1);
      assertThat(of(watchers, "1g.10gb").next()).containsEntry(SMALL_1.value(), "Unhealthy");
      sick(BIG);
      assertThat(of(watchers, "3g.40gb").next()).containsEntry(BIG.value(), "Unhealthy");
      assertThat(of(watchers, "1g.10gb").lists).isEmpty();
      channels.values().forEach(ManagedChannel::shutdownNow);
      plugins.stop();
    }
  }

  private static <T> T of(Map<String, T> byResource, String profile) {
    return Objects.requireNonNull(byResource.get("nvidia.com/mig-" + profile));
  }

  private void sick(GpuUuid slice) {
    assertThat(gpus.markUnhealthy(slice, "XID 63")).isTrue();
    bus.publish(new GpuHealthChanged(Instant.EPOCH, TestPod.NODE, slice, false, "XID 63"));
  }
}
