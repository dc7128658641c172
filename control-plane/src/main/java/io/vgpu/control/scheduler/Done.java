package io.vgpu.control.scheduler;

import io.vgpu.control.metrics.SchedulerMeters.Result;
import io.vgpu.control.scheduler.FilterVerb.Hold;
import java.util.Optional;

/** An answer, what it counts as, and what to hold. */
record Done(Reply reply, Result result, Optional<Hold> hold) {
  Done(Reply reply, Result result) {
    this(reply, result, Optional.empty());
  }
}
