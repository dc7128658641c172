package io.vgpu.agent.deviceplugin;

import io.vgpu.agent.gpu.GpuInventory;
import io.vgpu.agent.gpu.PhysicalGpu;
import io.vgpu.agent.shim.ShimPaths;
import io.vgpu.agent.shim.ShimWriter.ShimFiles;
import io.vgpu.model.ContainerClaim;
import io.vgpu.model.ContainerRef;
import io.vgpu.model.DeviceClaim;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import k8s.deviceplugin.v1beta1.ContainerAllocateResponse;
import k8s.deviceplugin.v1beta1.DeviceSpec;
import k8s.deviceplugin.v1beta1.Mount;

/**
 * What a container gets: environment, mounts, device nodes (node-agent.md 2.8, 1.8). No limits are
 * in the environment, and nothing that is mounted as a folder can be written (D7); what clients of
 * MPS get besides is {@link MpsClients}'.
 */
final class AllocateResponses {
  /** How the cards reach the container's runtime. */
  enum Strategy {
    ENVVAR,
    VOLUME_MOUNTS
  }

  /**
   * Host side of the answer.
   *
   * @param library the injected library as the host sees it
   * @param preload the file that becomes {@code /etc/ld.so.preload}, as the host sees it
   * @param hostDriverRoot root of the driver's device nodes on the host
   */
  record Host(Path library, Path preload, Path hostDriverRoot, Set<Strategy> strategies) {
    Host {
      strategies = Set.copyOf(strategies);
    }
  }

  private static final Path IN_CONTAINER = Path.of("/etc/vgpu-manager");
  private static final String DEVICES_FOLDER = "/var/run/nvidia-container-devices";
  private static final List<String> COMMON_NODES =
      List.of("/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia-uvm-tools", "/dev/nvidia-modeset");

  private final Host host;
  private final GpuInventory inventory;
  private final Predicate<Path> exists;
  private final Path deviceRoot;

  /** {@code exists}: whether a device node is there, as the agent sees the file system. */
  AllocateResponses(Host host, GpuInventory inventory, Predicate<Path> exists) {
    this.host = host;
    this.inventory = inventory;
    this.exists = exists;
    this.deviceRoot =
        Files.isDirectory(host.hostDriverRoot().resolve("dev"))
            ? host.hostDriverRoot()
            : Path.of("/");
  }

  ContainerAllocateResponse of(ContainerRef container, ContainerClaim claim, ShimFiles files) {
    List<DeviceClaim> devices =
        claim.devices().stream().sorted(Comparator.comparingInt(DeviceClaim::index)).toList();
    ContainerAllocateResponse.Builder answer =
        ContainerAllocateResponse.newBuilder()
            .putEnvs("VGPU_POD_NAME", container.pod().name())
            .putEnvs("VGPU_POD_NAMESPACE", container.pod().namespace())
            .putEnvs("VGPU_POD_UID", container.pod().uid())
            .putEnvs("VGPU_CONTAINER_NAME", container.container());
    strategies(answer, devices);
    nodes(answer, devices);
    mounts(answer, container.container(), files);
    return answer.build();
  }

  private void strategies(ContainerAllocateResponse.Builder answer, List<DeviceClaim> devices) {
    if (host.strategies().contains(Strategy.VOLUME_MOUNTS)) {
      answer.putEnvs("NVIDIA_VISIBLE_DEVICES", DEVICES_FOLDER);
      devices.forEach(
          d -> answer.addMounts(mount(DEVICES_FOLDER + "/" + d.uuid(), "/dev/null", false)));
    } else if (host.strategies().contains(Strategy.ENVVAR)) {
      answer.putEnvs(
          "NVIDIA_VISIBLE_DEVICES",
          devices.stream().map(d -> d.uuid().value()).collect(Collectors.joining(",")));
    }
  }

  private void nodes(ContainerAllocateResponse.Builder answer, List<DeviceClaim> devices) {
    COMMON_NODES.forEach(path -> node(answer, path));
    for (DeviceClaim d : devices) {
      inventory
          .card(d.uuid())
          .map(GpuInventory.Card::gpu)
          .map(PhysicalGpu::minor)
          .ifPresent(minor -> node(answer, "/dev/nvidia" + minor));
    }
  }

  private void node(ContainerAllocateResponse.Builder answer, String path) {
    Path onHost = deviceRoot.resolve(path.substring(1));
    if (exists.test(onHost)) {
      answer.addDevices(
          DeviceSpec.newBuilder()
              .setContainerPath(path)
              .setHostPath(onHost.toString())
              .setPermissions("rw"));
    }
  }

  private void mounts(ContainerAllocateResponse.Builder answer, String container, ShimFiles files) {
    Path own = IN_CONTAINER.resolve(ShimPaths.directoryInContainer(container));
    answer.addMounts(
        mount(
            IN_CONTAINER.resolve("driver").resolve("libvgpu-control.so").toString(),
            host.library().toString(),
            true));
    answer.addMounts(mount("/etc/ld.so.preload", host.preload().toString(), true));
    answer.addMounts(mount(own.toString(), files.directory().toString(), true));
    answer.addMounts(mount(own.resolve("usage").toString(), files.usage().toString(), false));
    answer.addMounts(
        mount(own.resolve("usage.lock").toString(), files.usageLock().toString(), false));
  }

  private static Mount mount(String container, String host, boolean readOnly) {
    return Mount.newBuilder()
        .setContainerPath(container)
        .setHostPath(host)
        .setReadOnly(readOnly)
        .build();
  }
}
