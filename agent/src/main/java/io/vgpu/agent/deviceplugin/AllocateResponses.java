package io.vgpu.agent.deviceplugin;

import io.vgpu.agent.gpu.GpuInventory;
import io.vgpu.agent.shim.Abi;
import io.vgpu.agent.shim.ShimPaths;
import io.vgpu.agent.shim.ShimWriter.ShimFiles;
import io.vgpu.model.ContainerClaim;
import io.vgpu.model.ContainerRef;
import io.vgpu.model.DeviceClaim;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import k8s.deviceplugin.v1beta1.ContainerAllocateResponse;
import k8s.deviceplugin.v1beta1.Mount;

/**
 * What a container gets: environment, mounts, device nodes (node-agent.md 2.8, 1.8). No limits are
 * in the environment, and nothing that is mounted as a folder can be written (D7); what clients of
 * MPS get besides is {@link MpsClients}'.
 */
final class AllocateResponses {
  /**
   * Host side of the answer.
   *
   * @param library the injected library as the host sees it
   * @param preload the file that becomes {@code /etc/ld.so.preload}, as the host sees it
   * @param registry the directory of the registration socket, where processes register
   */
  record Host(Path library, Path preload, Optional<Path> registry) {}

  private static final Path IN_CONTAINER = Path.of("/etc/vgpu-manager");

  private final Host host;
  private final GpuInventory inventory;
  private final Injection injection;

  AllocateResponses(Host host, GpuInventory inventory, Injection injection) {
    this.host = host;
    this.inventory = inventory;
    this.injection = injection;
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
    injection.into(answer, devices.stream().map(this::device).toList());
    mounts(answer, container.container(), files);
    return answer.build();
  }

  private Injection.Device device(DeviceClaim claim) {
    return new Injection.Device(
        claim.uuid(),
        inventory.card(claim.uuid()).map(c -> injection.nodes().card(c.gpu())).orElse(List.of()));
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
    host.registry()
        .ifPresent(
            dir ->
                answer.addMounts(
                    mount(
                        IN_CONTAINER.resolve(Abi.REGISTRY_DIR).toString(), dir.toString(), true)));
  }

  private static Mount mount(String container, String host, boolean readOnly) {
    return Mount.newBuilder()
        .setContainerPath(container)
        .setHostPath(host)
        .setReadOnly(readOnly)
        .build();
  }
}
