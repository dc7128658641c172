package io.vgpu.control.scheduler;

import io.vgpu.control.cluster.PodRecord;
import io.vgpu.control.cluster.PodRequest;
import io.vgpu.control.kube.BindingApi;
import io.vgpu.control.kube.BindingApi.Found;
import io.vgpu.control.metrics.SchedulerMeters.Result;
import io.vgpu.control.scheduler.PendingPods.Pending;
import java.util.Optional;
import java.util.function.Function;

/**
 * Finds the pod that bind speaks of: as kube-scheduler last asked about it, else as the watch shows
 * it, and only when both know nothing by a request. Blocks.
 */
final class PodLookup {
  private final PendingPods pending;
  private final Function<String, Optional<PodRecord>> watched;
  private final BindingApi api;

  /** The pod, or why there is none. */
  sealed interface Answer {
    /** The pod, and what its ranking said. */
    record Subject(PodRequest request, String ranking) implements Answer {}

    /** It cannot be bound. */
    record None(BindResult why) implements Answer {}
  }

  PodLookup(PendingPods pending, Function<String, Optional<PodRecord>> watched, BindingApi api) {
    this.pending = pending;
    this.watched = watched;
    this.api = api;
  }

  Answer find(BindArgs args) {
    Optional<Pending> asked = pending.get(args.podUid());
    if (asked.isPresent()) {
      return new Answer.Subject(asked.get().request(), asked.get().ranking());
    }
    Optional<PodRecord> seen = watched.apply(args.podUid());
    if (seen.isPresent()) {
      return unbound(args, seen.get());
    }
    return switch (api.read(args.podNamespace(), args.podName())) {
      case Found.Absent absent -> none(Result.POD_NOT_FOUND, BindTexts.notFound(args.podName()));
      case Found.Unreadable no -> none(Result.BIND_FAILED, "pod cannot be read: " + no.cause());
      case Found.Present present -> unbound(args, present.pod());
    };
  }

  private static Answer unbound(BindArgs args, PodRecord pod) {
    if (!pod.uid().equals(args.podUid())) {
      return none(Result.UID_MISMATCH, BindTexts.otherUid(args.podUid()));
    }
    String node = pod.nodeName();
    return node == null
        ? new Answer.Subject(pod.request(), "")
        : none(Result.BIND_FAILED, BindTexts.bound(node));
  }

  private static Answer none(Result result, String error) {
    return new Answer.None(new BindResult(result, error));
  }
}
