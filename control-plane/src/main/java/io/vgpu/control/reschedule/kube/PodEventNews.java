package io.vgpu.control.reschedule.kube;

import io.vgpu.control.metrics.ControllerMeters;
import io.vgpu.control.metrics.ControllerMeters.Outcome;
import io.vgpu.control.reschedule.FailedPod;
import io.vgpu.control.reschedule.FailedPod.Owner;
import io.vgpu.control.reschedule.RescheduleNews;
import io.vgpu.kube.KubeEvents;
import io.vgpu.kube.KubeEvents.Type;
import io.vgpu.model.PodRef;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Tells of rescheduling in events on the pods, in the log and in a counter. */
public final class PodEventNews implements RescheduleNews {
  private static final Logger log = LoggerFactory.getLogger(PodEventNews.class);
  private final KubeEvents events;
  private final ControllerMeters meters;

  public PodEventNews(KubeEvents events, ControllerMeters meters) {
    this.events = events;
    this.meters = meters;
  }

  @Override
  public void replaced(PodRef original, PodRef replacement, String why) {
    meters.settled(Outcome.REPLACED);
    log.info("replaced [pod: {}, by: {}, why: {}]", original, replacement.uid(), why);
    events.pod(
        replacement,
        Type.NORMAL,
        "Rescheduled",
        "takes the place of pod " + original.uid() + (why.isEmpty() ? "" : ": " + why));
  }

  @Override
  public void evicted(PodRef pod, Owner owner, String why) {
    meters.settled(Outcome.EVICTED);
    log.info("evicted [pod: {}, owner: {} {}, why: {}]", pod, owner.kind(), owner.name(), why);
    events.pod(
        pod,
        Type.NORMAL,
        "Evicted",
        owner.kind() + " " + owner.name() + " makes another one, because " + why);
  }

  @Override
  public void skipped(FailedPod pod, String because) {
    meters.settled(Outcome.SKIPPED);
    log.warn("not rescheduled [pod: {}, because: {}, why: {}]", pod.ref(), because, pod.why());
    events.pod(pod.ref(), Type.WARNING, "NotRescheduled", pod.why() + ", but " + because);
  }

  @Override
  public void backingOff(FailedPod pod, Duration pause) {
    log.info("has to go again, waiting [pod: {}, pause: {} s]", pod.ref(), pause.toSeconds());
    events.pod(
        pod.ref(),
        Type.WARNING,
        "RescheduleBackOff",
        "not for the first time, " + pod.why() + "; next try in " + pause.toSeconds() + " s");
  }

  @Override
  public void evictionRefused(PodRef pod, String why) {
    log.info(
        "a disruption budget forbids the eviction now, tried again [pod: {}, why: {}]", pod, why);
    events.pod(
        pod,
        Type.WARNING,
        "EvictionRefused",
        why + "; a disruption budget forbids its eviction now, tried again");
  }

  @Override
  public void nameTaken(PodRef original, PodRef namesake) {
    meters.settled(Outcome.NAME_TAKEN);
    log.warn("not replaced: another pod has the name [pod: {}, by: {}]", original, namesake.uid());
    events.pod(
        namesake,
        Type.WARNING,
        "NotRescheduled",
        "pod "
            + original.uid()
            + " of the same name is not made again: its name was taken while it was replaced");
  }

  @Override
  public void notMadeYet(PodRef original, String why) {
    log.warn("replacement refused, tried again [pod: {}, why: {}]", original, why);
    events.pod(
        original,
        Type.WARNING,
        "RescheduleRefused",
        "the pod was removed and is kept; making it again is refused, tried again: " + why);
  }

  @Override
  public void givenUp(PodRef original, String why) {
    meters.settled(Outcome.GIVEN_UP);
    log.error("replacement given up after a day [pod: {}, why: {}]", original, why);
    events.pod(original, Type.WARNING, "RescheduleGivenUp", "not made again within a day: " + why);
  }
}
