package io.vgpu.control.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.vgpu.claim.Names;
import io.vgpu.control.cli.kube.PodFacts;
import io.vgpu.model.ContainerDemand;
import io.vgpu.model.ContainerKind;
import io.vgpu.model.PodDemand;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class PodStoryTest {
  @Test
  void tellsAPodsWay() {
    PodFacts pod =
        facts(
            Map.of(
                "nvidia.com/pre-allocated",
                "c[0_GPU-a_10_1024,3_GPU-b_10_1024]",
                Names.REPLACES,
                "u0"),
            Map.of("nvidia.com/assigned-phase", "succeed"));
    assertThat(PodStory.lines(pod, Names.DEFAULT))
        .containsExactly(
            "pod        a/p (u1)",
            "asks       c: 2 card(s), cores 10 %, memory 1024",
            "scheduler  vgpu-scheduler",
            "node       n1",
            "claim      c: card 0 GPU-a, cores 10 %, memory 1024 MiB",
            "claim      c: card 3 GPU-b, cores 10 %, memory 1024 MiB",
            "allocated  succeed",
            "phase      Running",
            "replaces   pod u0, which had to go",
            "event      2026-01-01T00:00:00Z vgpu-scheduler BindingSucceed: why");
  }

  @Test
  void saysWhenAClaimCannotBeRead() {
    assertThat(lines(Map.of("nvidia.com/pre-allocated", "c[0_G")))
        .anyMatch(l -> l.startsWith("claim      cannot be read: claim entry \"c[0_G\""));
    assertThat(lines(Map.of())).contains("claim      none", "allocated  none");
  }

  private static List<String> lines(Map<String, String> annotations) {
    return PodStory.lines(facts(annotations, Map.of()), Names.DEFAULT);
  }

  private static PodFacts facts(Map<String, String> annotations, Map<String, String> labels) {
    return new PodFacts(
        "a",
        "p",
        "u1",
        "vgpu-scheduler",
        "n1",
        "Running",
        "",
        "",
        annotations,
        labels,
        new PodDemand(List.of(new ContainerDemand("c", ContainerKind.APP, 2, 10, 1024))),
        List.of(
            new PodFacts.PodEvent(
                Instant.parse("2026-01-01T00:00:00Z"), "vgpu-scheduler", "BindingSucceed", "why")));
  }
}
