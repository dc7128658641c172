package io.vgpu.control.reschedule;

import io.vgpu.control.reschedule.FailedPod.Owner;
import io.vgpu.model.PodRef;
import java.time.Duration;

/**
 * Who is told what became of pods that had to go: events on pods, the log, metrics. {@code why} is
 * for people. Never blocks.
 */
public interface RescheduleNews {
  /** The replacement is there. */
  void replaced(PodRef original, PodRef replacement, String why);

  /** Out of the way; its owner makes another one. */
  void evicted(PodRef pod, Owner owner, String why);

  /** It should go, and is left as it is; {@code because} of this. */
  void skipped(FailedPod pod, String because);

  /** It failed again and again: the next try waits. */
  void backingOff(FailedPod pod, Duration pause);

  /** A disruption budget forbids its removal; tried again. */
  void evictionRefused(PodRef pod, String why);

  /** Somebody else's pod took the name: it is not replaced. */
  void nameTaken(PodRef original, PodRef namesake);

  /** The API server refused the replacement; tried again. */
  void notMadeYet(PodRef original, String why);

  /** Tried for a day, in vain: lost. */
  void givenUp(PodRef original, String why);
}
