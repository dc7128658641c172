package io.vgpu.control.kube;

import io.fabric8.kubernetes.api.model.Pod;
import io.vgpu.claim.ClaimCodec;
import io.vgpu.claim.FormatException;
import io.vgpu.claim.Names;
import io.vgpu.model.GpuUuid;
import java.util.Set;
import java.util.TreeSet;

/** Which cards a bound pod holds, by its claim. Pure. */
public final class HeldCards {
  private HeldCards() {}

  /**
   * None for a pod that is bound nowhere, has ended, or whose claim cannot be read. The seal is not
   * asked for: who forges a claim is counted among those who hold what it names, and gains nothing.
   */
  public static Set<GpuUuid> of(Pod pod, Names names) {
    String node = pod.getSpec() == null ? null : pod.getSpec().getNodeName();
    String phase = pod.getStatus() == null ? null : pod.getStatus().getPhase();
    String claim =
        pod.getMetadata().getAnnotations() == null
            ? null
            : pod.getMetadata().getAnnotations().get(names.preAllocated());
    Set<GpuUuid> held = new TreeSet<>();
    if (node == null || claim == null || "Succeeded".equals(phase) || "Failed".equals(phase)) {
      return held;
    }
    try {
      ClaimCodec.decode(claim)
          .containers()
          .forEach(c -> c.devices().forEach(device -> held.add(device.uuid())));
    } catch (FormatException e) {
      return Set.of(); // the scheduler tells of pods that count nothing
    }
    return held;
  }
}
