package io.vgpu.agent.deviceplugin;

import io.micrometer.core.instrument.MeterRegistry;
import io.vgpu.agent.kubelet.KubeletRegistrar;
import io.vgpu.agent.kubelet.KubeletSocket;
import io.vgpu.agent.kubelet.KubeletTransport;
import io.vgpu.agent.kubelet.OpenStreams;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import k8s.deviceplugin.v1beta1.ContainerAllocateResponse;
import k8s.deviceplugin.v1beta1.ListAndWatchResponse;

/**
 * One resource whose answers depend on nothing but the ids that are asked for (node-agent.md 2.1):
 * a socket, a registration and a list of its own, so that what happens to one resource is no
 * other's concern (weaknesses 13-20, 13-22).
 */
final class PlainPlugin {
  /**
   * What is served.
   *
   * @param name the resource's, e.g. {@code nvidia.com/vgpu-cores}
   * @param endpoint base name of its socket
   * @param devices makes the list of now
   * @param answer what comes with the ids of one container
   */
  record Resource(
      String name,
      String endpoint,
      Supplier<ListAndWatchResponse> devices,
      Function<List<String>, Outcome<ContainerAllocateResponse>> answer) {}

  private final Resource resource;
  private final DeviceList devices;
  private final OpenStreams streams = new OpenStreams();
  private final KubeletSocket socket;
  private final KubeletRegistrar registrar;

  PlainPlugin(
      Resource resource,
      Path pluginDir,
      KubeletTransport transport,
      Executor threads,
      LongSupplier nanoTime,
      MeterRegistry meters) {
    this.resource = resource;
    this.devices = new DeviceList(resource.devices());
    this.socket =
        new KubeletSocket(
            transport,
            pluginDir.resolve(resource.endpoint()),
            List.of(new PlainPluginService(resource, devices, streams)),
            threads);
    this.registrar =
        new KubeletRegistrar(
            transport,
            socket,
            pluginDir.resolve("kubelet.sock"),
            resource.name(),
            PlainPluginService.OPTIONS,
            streams,
            () -> {},
            () -> {},
            nanoTime,
            meters);
  }

  /** Listens and registers from now on. Once. */
  void start() {
    registrar.start();
  }

  /** Ends within seconds. */
  void stop() {
    registrar.stop();
    socket.close();
  }

  /** Health or cards may have changed: tells the kubelet when the list did. Any thread. */
  void changed() {
    devices.changed();
  }

  /** Whether the kubelet watches it. */
  boolean watched() {
    return streams.any();
  }

  String name() {
    return resource.name();
  }
}
