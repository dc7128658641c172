package io.vgpu.agent.deviceplugin;

import io.micrometer.core.instrument.MeterRegistry;
import io.vgpu.agent.gpu.GpuInventory;
import io.vgpu.agent.kubelet.KubeletTransport;
import io.vgpu.claim.Names;
import io.vgpu.event.EventTypes;
import io.vgpu.event.wire.EventBusPort;
import io.vgpu.model.NodeInventory;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.LongSupplier;
import k8s.deviceplugin.v1beta1.ContainerAllocateResponse;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The resources beside {@code vgpu-number}, each by a {@link PlainPlugin} of its own: {@code
 * vgpu-cores} and {@code vgpu-memory} behind their gates, MIG slices by profile (node-agent.md 2.1,
 * 2.12). Start and stop block for moments.
 */
public final class PlainPlugins {
  private static final Logger log = LoggerFactory.getLogger(PlainPlugins.class);
  private static final String CORES_ENDPOINT = "nvidia-vgpu-core.sock";
  private static final String MEMORY_ENDPOINT = "nvidia-vgpu-memory.sock";

  /** Which resources are wanted. */
  public record Wanted(boolean cores, boolean memory, boolean slices) {}

  private final KubeletTransport transport;
  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
  private final EventBusPort bus;
  private final List<PlainPlugin> plugins;
  private final List<EventBusPort.Subscription> subscriptions = new ArrayList<>();

  /**
   * Builds; nothing runs before {@link #start}. Throws {@code UsageException} when a list would be
   * longer than the kubelet takes.
   */
  public PlainPlugins(
      Wanted wanted,
      Names names,
      Path pluginDir,
      GpuInventory inventory,
      Injection injection,
      EventBusPort bus,
      LongSupplier nanoTime,
      MeterRegistry meters) {
    List<PlainPlugin.Resource> resources = resources(wanted, names, inventory, injection);
    this.bus = bus;
    this.transport = new KubeletTransport(); // its thread only once nothing is refused any more
    this.plugins =
        resources.stream()
            .filter(PlainPlugins::served)
            .map(r -> new PlainPlugin(r, pluginDir, transport, threads, nanoTime, meters))
            .toList();
  }

  private static List<PlainPlugin.Resource> resources(
      Wanted wanted, Names names, GpuInventory inventory, Injection injection) {
    NodeInventory now = inventory.published();
    List<PlainPlugin.Resource> resources = new ArrayList<>();
    if (wanted.cores()) {
      UnitLists.checkCoresFit(now.devices(), now.config());
      resources.add(
          new PlainPlugin.Resource(
              names.vgpuCores(),
              CORES_ENDPOINT,
              () -> UnitLists.cores(inventory.published().devices()),
              ids -> nothing()));
    }
    if (wanted.memory()) {
      UnitLists.checkMemoryFits(now.devices(), now.config());
      resources.add(
          new PlainPlugin.Resource(
              names.vgpuMemory(),
              MEMORY_ENDPOINT,
              () -> UnitLists.memory(inventory.published().devices(), now.config()),
              ids -> nothing()));
    }
    if (wanted.slices()) {
      resources.addAll(new MigResources(inventory, injection).all(names));
    }
    return resources;
  }

  /** The claim says what a container gets of its cards; the kubelet only counts. */
  private static Outcome<ContainerAllocateResponse> nothing() {
    return Outcome.given(ContainerAllocateResponse.getDefaultInstance());
  }

  private static boolean served(PlainPlugin.Resource resource) {
    int devices = resource.devices().get().getDevicesCount();
    if (devices == 0) {
      log.info("resource without devices is not registered [resource: {}]", resource.name());
    }
    return devices > 0;
  }

  /** Starts all; each registers by itself from now on. Once. */
  public void start() {
    subscriptions.add(bus.on(EventTypes.GPU_HEALTH_CHANGED, e -> changed()));
    subscriptions.add(bus.on(EventTypes.GPU_INVENTORY_CHANGED, e -> changed()));
    plugins.forEach(PlainPlugin::start);
  }

  private void changed() {
    // a list may be long: it is not made on the event loop
    plugins.forEach(p -> threads.execute(p::changed));
  }

  /** Ends serving within seconds. */
  public void stop() {
    subscriptions.forEach(
        s -> s.end().onFailure(t -> log.debug("subscription stays [cause: {}]", t.toString())));
    plugins.forEach(PlainPlugin::stop);
    transport.close();
    threads.shutdown();
  }

  /** What is still waited for; empty when the kubelet watches every resource. */
  public List<String> missing() {
    return plugins.stream()
        .filter(p -> !p.watched())
        .map(p -> p.name() + " registered with the kubelet")
        .toList();
  }
}
