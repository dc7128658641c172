package io.vgpu.e2e.burst;

import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.batch.v1.Job;
import io.fabric8.kubernetes.api.model.batch.v1.JobBuilder;
import io.vgpu.e2e.product.VgpuPods;
import io.vgpu.model.ContainerKind;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Writes planned pods as Kubernetes objects. Pure. */
final class BurstPods {
  static final String GATE = "vgpu-manager.io/burst";

  /** So high that no Job gives up within a burst. */
  private static final int BACKOFF_LIMIT = 100;

  /** A sidecar that was told to end before it had printed everything needs a moment. */
  private static final long GRACE_SECONDS = 10;

  private BurstPods() {}

  /** A pod that nobody owns. */
  static Pod bare(String namespace, PodPlan plan) {
    return pod(namespace, plan, plan.asks().stream().map(BurstPods::container).toList());
  }

  /**
   * A bare pod on the node without asking the scheduler. Without devices it would run long enough
   * to be found; with devices it is like the others.
   */
  static Pod onNode(String namespace, PodPlan plan, String node) {
    List<Container> containers =
        plan.asks().stream()
            .map(
                a ->
                    VgpuPods.container(
                        a.container(),
                        VgpuPods.limits(a.number(), a.cores(), a.memoryMiB()),
                        "trap 'exit 0' TERM; [ -n \"$NVIDIA_VISIBLE_DEVICES\" ] || { sleep 600 & wait; }; "
                            + life(a)))
            .toList();
    return new PodBuilder(pod(namespace, plan, containers))
        .editSpec()
        .withNodeName(node)
        .endSpec()
        .build();
  }

  /** A Job of one pod, which is made again until it succeeds. */
  static Job job(String namespace, PodPlan plan) {
    Pod pod = bare(namespace, plan);
    return new JobBuilder()
        .withNewMetadata()
        .withNamespace(namespace)
        .withName(plan.name())
        .endMetadata()
        .withNewSpec()
        .withParallelism(1)
        .withCompletions(1)
        .withBackoffLimit(BACKOFF_LIMIT)
        .withNewTemplate()
        .withNewMetadata()
        .withAnnotations(plan.annotations())
        .endMetadata()
        .withSpec(pod.getSpec())
        .endTemplate()
        .endSpec()
        .build();
  }

  private static Pod pod(String namespace, PodPlan plan, List<Container> containers) {
    List<Container> inits = new ArrayList<>();
    List<Container> apps = new ArrayList<>();
    for (int i = 0; i < containers.size(); i++) {
      (plan.asks().get(i).kind() == ContainerKind.APP ? apps : inits).add(containers.get(i));
    }
    PodBuilder pod =
        new PodBuilder(VgpuPods.pod(namespace, plan.name(), plan.annotations(), apps))
            .editSpec()
            .withInitContainers(inits)
            .withTerminationGracePeriodSeconds(GRACE_SECONDS)
            .endSpec();
    if (plan.gated()) {
      pod.editSpec().addNewSchedulingGate(GATE).endSpec();
    }
    return pod.build();
  }

  private static Container container(Ask ask) {
    Container c =
        VgpuPods.container(
            ask.container(),
            VgpuPods.limits(ask.number(), ask.cores(), ask.memoryMiB()),
            ask.kind() == ContainerKind.SIDECAR
                ? "trap 'exit 0' TERM; [ -z \"$told\" ] || exit 0; sleep 600 & wait"
                : life(ask));
    if (ask.kind() == ContainerKind.SIDECAR) {
      c.setRestartPolicy("Always");
      // told to end while it still prints, it ends after the print
      List<String> command = new ArrayList<>(c.getCommand());
      command.set(command.size() - 1, "told=; trap 'told=1' TERM\n" + command.getLast());
      c.setCommand(command);
    }
    return c;
  }

  private static String life(Ask ask) {
    return ask.lifeMs() == 0
        ? "exit 0"
        : String.format(Locale.ROOT, "sleep %.1f; exit 0", ask.lifeMs() / 1000.0);
  }
}
