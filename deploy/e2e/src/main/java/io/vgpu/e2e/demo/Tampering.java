package io.vgpu.e2e.demo;

import io.vgpu.agent.deviceplugin.ResponseFilter;
import io.vgpu.model.ContainerRef;
import k8s.deviceplugin.v1beta1.ContainerAllocateResponse;

/** The deliberate faults in the agent's answers: what a broken agent would give a container. */
public enum Tampering implements ResponseFilter {
  /** The container is shown another card than it claimed. */
  SWAPPED_UUID {
    @Override
    public ContainerAllocateResponse apply(
        ContainerRef container, ContainerAllocateResponse answer) {
      ContainerAllocateResponse.Builder swapped = answer.toBuilder();
      String uuids = answer.getEnvsOrDefault("NVIDIA_VISIBLE_DEVICES", "");
      // the fake node's cards differ in the last digit alone
      swapped.putEnvs("NVIDIA_VISIBLE_DEVICES", uuids.replaceFirst("[0-7](,|$)", "9$1"));
      return swapped.build();
    }
  },
  /** The container starts without the directory that holds its limits. */
  MOUNT_MISSING {
    @Override
    public ContainerAllocateResponse apply(
        ContainerRef container, ContainerAllocateResponse answer) {
      ContainerAllocateResponse.Builder without = answer.toBuilder().clearMounts();
      answer.getMountsList().stream()
          .filter(
              m -> !m.getContainerPath().startsWith("/etc/vgpu-manager/" + container.container()))
          .forEach(without::addMounts);
      return without.build();
    }
  };

  /** The fault of a break's word. */
  public static Tampering of(String word) {
    return switch (word) {
      case "swapped-uuid" -> SWAPPED_UUID;
      case "mount-missing" -> MOUNT_MISSING;
      default ->
          throw new IllegalArgumentException(
              "tampering \"" + word + "\": must be swapped-uuid or mount-missing");
    };
  }
}
