package io.vgpu.e2e.demo;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Quantity;
import io.vgpu.claim.Names;
import io.vgpu.e2e.product.VgpuPods;
import java.util.List;
import java.util.Map;

/** The demo's three pods. */
final class DemoPods {
  private static final String STAY = "exec sleep 3600";

  private DemoPods() {}

  /** In the order in which they are made. */
  static List<Pod> all(String namespace) {
    return List.of(example(namespace), twoSpread(namespace), byType(namespace));
  }

  /**
   * The README's example: one card, 10 % of its cores, 1024 MiB; its image replaced by one made
   * here.
   */
  private static Pod example(String namespace) {
    var container = VgpuPods.container("default", VgpuPods.limits(1, 10, 1024), STAY);
    container.getResources().getLimits().put("cpu", new Quantity("2"));
    container.getResources().getLimits().put("memory", new Quantity("4Gi"));
    return VgpuPods.pod(namespace, "vgpu-example", Map.of(), List.of(container));
  }

  /** Two cards, the idlest first. */
  private static Pod twoSpread(String namespace) {
    return VgpuPods.pod(
        namespace,
        "two-spread",
        Map.of(Names.DEFAULT.deviceSchedulerPolicy(), "spread"),
        List.of(VgpuPods.container("train", VgpuPods.limits(2, 30, 2048), STAY)));
  }

  /**
   * Chosen by type; leaves out the scheduler's name and the number of cards, which the webhook
   * mends.
   */
  private static Pod byType(String namespace) {
    Pod pod =
        VgpuPods.pod(
            namespace,
            "by-type",
            Map.of(
                Names.DEFAULT.includeGpuType(),
                "A100,",
                Names.DEFAULT.excludeGpuType(),
                "H100, T4"),
            List.of(VgpuPods.container("infer", VgpuPods.limits(0, 20, 512), STAY)));
    pod.getSpec().setSchedulerName(null);
    return pod;
  }
}
