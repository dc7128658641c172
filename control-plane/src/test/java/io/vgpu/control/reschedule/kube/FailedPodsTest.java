package io.vgpu.control.reschedule.kube;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.ContainerStateTerminatedBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import io.vgpu.claim.Names;
import io.vgpu.control.reschedule.CardsToLeave;
import io.vgpu.control.reschedule.FailedPod;
import io.vgpu.control.reschedule.FailedPod.Owner;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class FailedPodsTest {
  private final CardsToLeave cards =
      new CardsToLeave(
          Clock.fixed(Instant.parse("2026-01-01T00:00:00Z"), ZoneOffset.UTC),
          Duration.ofMinutes(5));
  private final FailedPods slim = new FailedPods(Names.DEFAULT, cards);

  @ParameterizedTest(name = "reason {0}: refused {1}")
  @CsvSource({
    "UnexpectedAdmissionError, true",
    "OutOfnvidia.com/vgpu-number, true",
    "OutOfcpu, false",
    "Evicted, false",
    "NodeAffinity, false"
  })
  void knowsTheKubeletsWordsForARefusal(String reason, boolean refused) {
    Pod pod =
        new PodBuilder(pod())
            .editStatus()
            .withPhase("Failed")
            .withReason(reason)
            .endStatus()
            .build();
    assertThat(slim.of(pod).rejected()).isEqualTo(refused);
    assertThat(slim.of(pod).allocationFailed()).isEqualTo(refused);
  }

  @ParameterizedTest(name = "{0}, reason {1}, exit {2}: refused {3}")
  @CsvSource({
    "Failed, , 0, true",
    "Failed, , 137, false",
    "Failed, Evicted, 0, false",
    "Succeeded, , 0, false",
    "Failed, , , false"
  })
  void knowsARefusalWhoseReasonTheKubeletDropped(
      String phase, @Nullable String reason, @Nullable Integer exit, boolean refused) {
    Pod pod =
        new PodBuilder(pod())
            .editStatus()
            .withPhase(phase)
            .withReason(reason)
            .addNewContainerStatus()
            .withName("first")
            .withNewState()
            .withNewTerminated()
            .withExitCode(0)
            .endTerminated()
            .endState()
            .endContainerStatus()
            .addNewContainerStatus()
            .withName("c")
            .withNewState()
            .withTerminated(
                exit == null
                    ? null
                    : new ContainerStateTerminatedBuilder().withExitCode(exit).build())
            .endState()
            .endContainerStatus()
            .endStatus()
            .build();
    assertThat(slim.of(pod).allocationFailed()).isEqualTo(refused);
  }

  @Test
  void failedWithoutAnyContainerIsNoSuchRefusal() {
    Pod pod = new PodBuilder(pod()).editStatus().withPhase("Failed").endStatus().build();
    assertThat(slim.of(pod).allocationFailed()).isFalse();
  }

  @Test
  void readsMarkOwnerAndCount() {
    Pod pod =
        new PodBuilder(pod())
            .editMetadata()
            .addToLabels("nvidia.com/assigned-phase", "failed")
            .addToAnnotations(Names.REPLACEMENTS, "3")
            .addNewOwnerReference()
            .withApiVersion("v1")
            .withKind("Other")
            .withName("x")
            .withUid("x")
            .endOwnerReference()
            .addNewOwnerReference()
            .withApiVersion("apps/v1")
            .withKind("ReplicaSet")
            .withName("rs")
            .withUid("u")
            .withController(true)
            .endOwnerReference()
            .endMetadata()
            .build();
    FailedPod record = slim.of(pod);
    assertThat(record.marked()).isTrue();
    assertThat(record.replacements()).isEqualTo(3);
    assertThat(record.owner()).contains(new Owner("apps", "ReplicaSet", "rs", "u"));
    assertThat(record.fixed()).isEmpty();
  }

  @ParameterizedTest(name = "{0}={1}: {2}")
  @CsvSource({
    "kubernetes.io/config.mirror, abc, mirror",
    "kubernetes.io/config.source, file, static",
    "kubernetes.io/config.source, api, ''"
  })
  void leavesStaticPodsWhereTheyAre(String key, String value, String fixed) {
    Pod pod =
        new PodBuilder(pod()).editMetadata().addToAnnotations(key, value).endMetadata().build();
    assertThat(slim.of(pod).fixed().orElse("")).isEqualTo(fixed);
  }

  @Test
  void leavesCriticalPodsWhereTheyAre() {
    Pod pod = new PodBuilder(pod()).editSpec().withPriority(2_000_001_000).endSpec().build();
    assertThat(slim.of(pod).fixed()).contains("critical");
  }

  @ParameterizedTest
  @CsvSource({"-1,0", "abc,0", "99999,0", "9999,1000"})
  void takesNoNonsenseForACount(String text, int count) {
    Pod pod =
        new PodBuilder(pod())
            .editMetadata()
            .addToAnnotations(Names.REPLACEMENTS, text)
            .endMetadata()
            .build();
    assertThat(slim.of(pod).replacements()).isEqualTo(count);
  }

  private static Pod pod() {
    return new PodBuilder()
        .withNewMetadata()
        .withNamespace("a")
        .withName("p")
        .withUid("u")
        .withCreationTimestamp("2026-01-01T00:00:00Z")
        .endMetadata()
        .withNewSpec()
        .addNewContainer()
        .withName("c")
        .withNewResources()
        .withLimits(Map.of("nvidia.com/vgpu-number", new Quantity("1")))
        .endResources()
        .endContainer()
        .endSpec()
        .withNewStatus()
        .withPhase("Running")
        .endStatus()
        .build();
  }
}
