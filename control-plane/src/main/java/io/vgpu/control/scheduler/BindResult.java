package io.vgpu.control.scheduler;

import io.vgpu.control.metrics.SchedulerMeters.Result;

/**
 * How a bind ended.
 *
 * @param error for kube-scheduler, empty on success
 */
record BindResult(Result result, String error) {
  static BindResult success() {
    return new BindResult(Result.SUCCESS, "");
  }
}
