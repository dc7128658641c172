package io.vgpu.control.reschedule;

import static org.assertj.core.api.Assertions.assertThat;

import io.vgpu.control.reschedule.FailedPod.Owner;
import io.vgpu.control.reschedule.FailedPod.Phase;
import io.vgpu.model.PodRef;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The table of actions (node-agent.md 6), and the steps of a replacement. */
class RescheduleReconcilerTest {
  private final RescheduleReconciler reconciler = new RescheduleReconciler();

  @ParameterizedTest(name = "{0}")
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          bare, refused at admission           | FAILED    | rejected          |                    | Replace
          bare, runs without devices           | RUNNING   | marked            |                    | Replace
          bare, its start was refused          | PENDING   | marked            |                    | Replace
          bare, failed for reasons of its own  | FAILED    |                   |                    | Ignore
          bare, finished although marked       | SUCCEEDED | marked            |                    | Ignore
          bare, runs well                      | RUNNING   |                   |                    | Ignore
          bare, on its way out                 | FAILED    | rejected,deleting |                    | Ignore
          not a vGPU pod                       | FAILED    | rejected,other    |                    | Ignore
          a static pod                         | FAILED    | rejected,fixed    |                    | Skip
          a ReplicaSet's, refused              | FAILED    | rejected          | apps/ReplicaSet    | LeaveToOwner
          a ReplicationController's, refused   | FAILED    | rejected          | /ReplicationController | LeaveToOwner
          a StatefulSet's, refused             | FAILED    | rejected          | apps/StatefulSet   | LeaveToOwner
          a DaemonSet's, refused               | FAILED    | rejected          | apps/DaemonSet     | LeaveToOwner
          a Job's, refused: the Job counts it  | FAILED    | rejected          | batch/Job          | LeaveToOwner
          a ReplicaSet's, runs without devices | RUNNING   | marked            | apps/ReplicaSet    | Evict
          a Job's, runs without devices        | RUNNING   | marked            | batch/Job          | Evict
          bare, on a drained card              | RUNNING   | leaves            |                    | Replace
          bare, ended on a drained card        | FAILED    | leaves            |                    | Ignore
          a ReplicaSet's, on a drained card    | RUNNING   | leaves            | apps/ReplicaSet    | Evict
          a Job's, starts on a drained card    | PENDING   | leaves            | batch/Job          | Evict
          a DaemonSet's, on a drained card     | RUNNING   | leaves            | apps/DaemonSet     | Skip
          a static pod, on a drained card      | RUNNING   | leaves,fixed      |                    | Skip
          a foreign controller's, refused      | FAILED    | rejected          | example.com/Job    | Evict
          """)
  void decides(String name, Phase phase, String marks, String owner, String action) {
    FailedPod pod = pod(phase, marks == null ? "" : marks, owner == null ? "" : owner);
    assertThat(reconciler.decide(pod).getClass().getSimpleName()).isEqualTo(action);
  }

  @ParameterizedTest(name = "kept: {0}, there: {1} → {2}")
  @CsvSource({
    "none,      original,            STORE",
    "none,      original deleting,   ABANDON",
    "none,      nothing,             ABANDON",
    "none,      namesake,            ABANDON",
    "same,      original,            REMOVE",
    "older,     original,            STORE",
    "same,      original deleting,   AWAIT",
    "same,      original well again, ABANDON",
    "same,      nothing,             CREATE",
    "same,      replacement,         FINISH",
    "same,      namesake,            YIELD"
  })
  void findsTheNextStepFromWhatIs(String kept, String there, RescheduleReconciler.Step step) {
    PodRef original = new PodRef("a", "p", "u1");
    Optional<StoredCopy> stored =
        kept.equals("none")
            ? Optional.empty()
            : Optional.of(
                new StoredCopy(original, kept.equals("same") ? "7" : "6", "{}", Instant.EPOCH));
    Optional<LivePod> live =
        switch (there) {
          case "nothing" -> Optional.empty();
          case "replacement" -> Optional.of(live("u2", "", Optional.of("u1")));
          case "namesake" -> Optional.of(live("u3", "", Optional.empty()));
          case "original deleting" ->
              Optional.of(live("u1", "rejected,deleting", Optional.empty()));
          case "original well again" -> Optional.of(live("u1", "", Optional.empty()));
          default -> Optional.of(live("u1", "rejected", Optional.empty()));
        };
    assertThat(reconciler.next(original, stored, live)).isEqualTo(step);
  }

  @ParameterizedTest(name = "before try {0}: {1} s")
  @CsvSource({"0,0", "1,1", "2,2", "3,4", "9,256", "10,300", "1000,300"})
  void pausesGrowAndAreBounded(int number, long seconds) {
    assertThat(new BackOff(Duration.ofSeconds(1), Duration.ofMinutes(5)).before(number))
        .isEqualTo(Duration.ofSeconds(seconds));
  }

  private static LivePod live(String uid, String marks, Optional<String> replaces) {
    FailedPod pod = pod(Phase.FAILED, marks, "");
    FailedPod named =
        new FailedPod(
            new PodRef("a", "p", uid),
            pod.phase(),
            pod.asksForVgpu(),
            pod.rejected(),
            pod.marked(),
            pod.deleting(),
            pod.fixed(),
            pod.owner(),
            pod.created(),
            pod.replacements(),
            pod.cause(),
            pod.leaves());
    return new LivePod(named, "7", replaces, "{}");
  }

  private static FailedPod pod(Phase phase, String marks, String owner) {
    return new FailedPod(
        new PodRef("a", "p", "u1"),
        phase,
        !marks.contains("other"),
        marks.contains("rejected"),
        marks.contains("marked"),
        marks.contains("deleting"),
        marks.contains("fixed") ? Optional.of("static") : Optional.empty(),
        owner.isEmpty()
            ? Optional.empty()
            : Optional.of(new Owner(owner.split("/", -1)[0], owner.split("/", -1)[1], "o", "u")),
        Instant.EPOCH,
        0,
        "",
        marks.contains("leaves") ? Optional.of("GPU g is drained") : Optional.empty());
  }
}
