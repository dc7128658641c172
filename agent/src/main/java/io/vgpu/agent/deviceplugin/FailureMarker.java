package io.vgpu.agent.deviceplugin;

import io.vgpu.agent.kube.NodePod;
import io.vgpu.agent.kube.PodWriter;
import io.vgpu.claim.Names;
import io.vgpu.event.VgpuEvent.AllocationFailed;
import io.vgpu.event.wire.EventBusPort;
import io.vgpu.kube.KubeEvents;
import io.vgpu.model.PodRef;
import io.vgpu.model.Reason;
import java.time.Clock;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * How a pod that did not get its devices is made known (node-agent.md 6): an {@link
 * AllocationFailed} fact, a Kubernetes event {@code AllocationFailed} with the reason's text, and
 * the label {@code assigned-phase=failed} with {@code metrics-node} removed, by which the
 * controller's rescheduler knows it.
 *
 * <p>The gate AllocationFailureReschedule switches the label of refused pods only: those the
 * kubelet makes {@code Failed}, so the rescheduler sees them either way. A pod that <em>runs</em>
 * without devices, or that never starts, looks healthy to everyone else, so it is always labelled.
 * Returns at once, any thread.
 */
final class FailureMarker {
  private static final Logger log = LoggerFactory.getLogger(FailureMarker.class);
  static final String EVENT = "AllocationFailed";
  static final String FAILED = "failed";

  private final String node;
  private final Names names;
  private final boolean labelRefused;
  private final EventBusPort bus;
  private final KubeEvents events;
  private final PodWriter writer;
  private final Clock clock;

  FailureMarker(
      String node,
      Names names,
      boolean labelRefused,
      EventBusPort bus,
      KubeEvents events,
      PodWriter writer,
      Clock clock) {
    this.node = node;
    this.names = names;
    this.labelRefused = labelRefused;
    this.bus = bus;
    this.events = events;
    this.writer = writer;
    this.clock = clock;
  }

  /** A pod was refused while the kubelet admitted it; {@code text} is what the kubelet was told. */
  void refused(PodRef pod, Reason reason, String text) {
    tell(pod, reason, text);
    if (labelRefused && !label(pod)) {
      log.warn("refused pod not labelled, too many writes wait [pod: {}]", pod);
    }
  }

  /**
   * A pod that nobody else sees as failed: it runs though it never got its devices, or will never
   * run. False when it carries the mark already or the write has to be tried again.
   */
  boolean unseen(NodePod pod, Reason reason, String detail) {
    if (FAILED.equals(pod.labels().get(names.assignedPhase())) || !label(pod.ref())) {
      return false;
    }
    tell(pod.ref(), reason, reason.phrase() + ": " + detail);
    return true;
  }

  private void tell(PodRef pod, Reason reason, String text) {
    log.warn("allocation failed [pod: {}, reason: {}, text: {}]", pod, reason.code(), text);
    bus.publish(new AllocationFailed(clock.instant(), node, pod, reason, text));
    events.pod(pod, KubeEvents.Type.WARNING, EVENT, text);
  }

  private boolean label(PodRef pod) {
    Map<String, @Nullable String> labels = new HashMap<>();
    labels.put(names.assignedPhase(), FAILED);
    labels.put(names.metricsNode(), null);
    return writer.submit(pod, new PodWriter.Change(Map.of(), labels));
  }
}
