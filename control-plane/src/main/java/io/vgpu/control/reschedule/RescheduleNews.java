package io.vgpu.control.reschedule;

import io.vgpu.control.reschedule.FailedPod.Owner;
import io.vgpu.model.PodRef;
import java.time.Duration;

/** Who is told what became of failed pods: events on pods, the log, metrics. Never blocks. */
public interface RescheduleNews {
  /** The replacement is there. */
  void replaced(PodRef original, PodRef replacement, String cause);

  /** Out of the way; its owner makes another one. */
  void evicted(PodRef pod, Owner owner, String cause);

  /** It failed, and is left as it is. */
  void skipped(FailedPod pod, String why);

  /** It failed again and again: the next try waits. */
  void backingOff(FailedPod pod, Duration pause);

  /** A disruption budget forbids its removal; tried again. */
  void evictionRefused(PodRef pod);

  /** Somebody else's pod took the name: it is not replaced. */
  void nameTaken(PodRef original, PodRef namesake);

  /** The API server refused the replacement; tried again. */
  void notMadeYet(PodRef original, String why);

  /** Tried for a day, in vain: lost. */
  void givenUp(PodRef original, String why);
}
