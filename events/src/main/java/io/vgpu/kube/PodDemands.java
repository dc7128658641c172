package io.vgpu.kube;

import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Quantity;
import io.vgpu.claim.Names;
import io.vgpu.model.ContainerDemand;
import io.vgpu.model.ContainerKind;
import io.vgpu.model.PodDemand;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Reads from a pod's {@code limits} what it asks for (control-plane.md 2.1). Pure; numbers too
 * large for a long are capped.
 */
public final class PodDemands {
  private static final BigDecimal LARGEST = BigDecimal.valueOf(Long.MAX_VALUE);

  private PodDemands() {}

  /**
   * The demand of every container of the pod: init containers first, then app containers, in spec
   * order.
   */
  public static PodDemand of(Pod pod, Names names) {
    List<ContainerDemand> containers = new ArrayList<>();
    if (pod.getSpec() != null) {
      for (Container c : pod.getSpec().getInitContainers()) {
        boolean sidecar = "Always".equals(c.getRestartPolicy());
        containers.add(of(c, sidecar ? ContainerKind.SIDECAR : ContainerKind.INIT, names));
      }
      for (Container c : pod.getSpec().getContainers()) {
        containers.add(of(c, ContainerKind.APP, names));
      }
    }
    return new PodDemand(containers);
  }

  private static ContainerDemand of(Container c, ContainerKind kind, Names names) {
    Map<String, Quantity> limits =
        c.getResources() == null || c.getResources().getLimits() == null
            ? Map.of()
            : c.getResources().getLimits();
    return new ContainerDemand(
        c.getName(),
        kind,
        whole(limits.get(names.vgpuNumber())),
        whole(limits.get(names.vgpuCores())),
        whole(limits.get(names.vgpuMemory())));
  }

  /** A quantity as a whole number; absent is 0. */
  public static long whole(@Nullable Quantity quantity) {
    if (quantity == null) {
      return 0;
    }
    // the API server accepts only whole numbers for extended resources; before it does, a fraction
    // rounds away from "less"
    BigDecimal value = quantity.getNumericalAmount().setScale(0, RoundingMode.CEILING);
    return value.min(LARGEST).max(LARGEST.negate()).longValue();
  }
}
