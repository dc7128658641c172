package io.vgpu.e2e.burst;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.batch.v1.Job;
import io.vgpu.claim.Names;
import io.vgpu.kube.PodDemands;
import io.vgpu.model.ContainerKind;
import io.vgpu.model.PodDemand;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class BurstPodsTest {
  private static final PodPlan PLAN =
      new PodPlan(
          "bare-x",
          false,
          true,
          Map.of(Names.DEFAULT.deviceSchedulerPolicy(), "spread"),
          List.of(
              new Ask("prepare", ContainerKind.INIT, 2, 10, 500, 0),
              new Ask("side", ContainerKind.SIDECAR, 2, 5, 300, 0),
              new Ask("main", ContainerKind.APP, 3, 0, 700, 1500)));

  @Test
  void podAsksForWhatIsPlanned() {
    Pod pod = BurstPods.bare("ns", PLAN);
    assertThat(PodDemands.of(pod, Names.DEFAULT))
        .isEqualTo(new PodDemand(PLAN.asks().stream().map(Ask::demand).toList()));
    assertThat(pod.getMetadata().getAnnotations()).containsAllEntriesOf(PLAN.annotations());
    assertThat(pod.getSpec().getSchedulerName()).isEqualTo(Names.SCHEDULER_NAME);
    assertThat(pod.getSpec().getRestartPolicy()).isEqualTo("Never");
    assertThat(pod.getSpec().getSchedulingGates()).hasSize(1);
  }

  @Test
  void sidecarEndsWhenToldButPrintsFirst() {
    Container side = BurstPods.bare("ns", PLAN).getSpec().getInitContainers().get(1);
    assertThat(side.getRestartPolicy()).isEqualTo("Always");
    String script = side.getCommand().getLast();
    assertThat(script.indexOf("trap 'told=1' TERM"))
        .isNotNegative()
        .isLessThan(script.indexOf("### end"));
    assertThat(script.indexOf("trap 'exit 0' TERM")).isGreaterThan(script.indexOf("### end"));
  }

  @Test
  void jobMakesItsPodAgainUntilItSucceeds() {
    Job job = BurstPods.job("ns", PLAN);
    assertThat(job.getSpec().getBackoffLimit()).isEqualTo(100);
    assertThat(job.getSpec().getTemplate().getMetadata().getAnnotations())
        .isEqualTo(PLAN.annotations());
    assertThat(job.getSpec().getTemplate().getSpec())
        .isEqualTo(BurstPods.bare("ns", PLAN).getSpec());
  }

  @Test
  void podOnTheNodeNeedsNoScheduler() {
    Pod pod = BurstPods.onNode("ns", PLAN, "n0");
    assertThat(pod.getSpec().getNodeName()).isEqualTo("n0");
    assertThat(pod.getSpec().getSchedulerName()).isEqualTo(Names.SCHEDULER_NAME);
  }
}
