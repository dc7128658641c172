package io.vgpu.control.scheduler;

import io.vgpu.control.cluster.PodRequest;
import io.vgpu.event.VgpuEvent;
import io.vgpu.model.PodClaim;
import io.vgpu.model.PodRef;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells of binds: at most one Kubernetes event on a pod's good way, so what else is worth saying of
 * it goes into that one, and one fact for our own processes. Any thread.
 */
final class PlacementNews {
  private static final Logger log = LoggerFactory.getLogger(PlacementNews.class);

  private final PodEvents events;
  private final Consumer<VgpuEvent> bus;
  private final DecisionLog decisions;
  private final Clock clock;

  private record Remark(String reason, String text) {}

  PlacementNews(PodEvents events, Consumer<VgpuEvent> bus, DecisionLog decisions, Clock clock) {
    this.decisions = decisions;
    this.events = events;
    this.bus = bus;
    this.clock = clock;
  }

  /** The pod is bound with its allocation. */
  void placed(
      PodRequest pod, String node, PodClaim claim, Optional<Placement> plan, String ranking) {
    String explanation = explanation(node, plan.map(Placement::why).orElse(List.of()), ranking);
    decisions.bound(pod, node, "", plan);
    bus.accept(new VgpuEvent.PodPlaced(clock.instant(), node, pod.pod(), claim, explanation));
    log.info("pod placed [pod: {}, node: {}, why: {}]", pod.pod(), node, explanation);
    tell(pod, node, plan.map(Placement::fallbacks).orElse(List.of()));
  }

  /** The pod is bound; it got no card because it asked for none. */
  void boundWithout(PodRequest pod, String node) {
    log.info("pod bound without vGPU [pod: {}, node: {}]", pod.pod(), node);
    tell(pod, node, List.of());
  }

  private void tell(PodRequest pod, String node, List<String> fallbacks) {
    String success =
        "Successfully bound pod \""
            + pod.pod().namespace()
            + "/"
            + pod.pod().name()
            + "\" to node \""
            + node
            + "\"";
    List<Remark> remarks = remarks(pod, fallbacks);
    if (remarks.isEmpty()) {
      events.normal(pod.pod(), "BindingSucceed", success);
    } else {
      StringBuilder text = new StringBuilder();
      remarks.forEach(r -> text.append(r.text()).append("; "));
      events.warning(pod.pod(), remarks.getFirst().reason(), text + success);
    }
  }

  private static List<Remark> remarks(PodRequest pod, List<String> fallbacks) {
    List<Remark> remarks = new ArrayList<>();
    pod.zeroNumber()
        .forEach(
            c ->
                remarks.add(
                    new Remark(
                        "ResourceInvalid",
                        "container " + c + " requests vgpu-number 0: it gets no vGPU")));
    pod.wishes().invalid().forEach(text -> remarks.add(new Remark("PolicyInvalid", text)));
    fallbacks.forEach(text -> remarks.add(new Remark("TopologyFallback", text)));
    return remarks;
  }

  private static String explanation(String node, List<String> why, String ranking) {
    String nodeWhy = ranking.isEmpty() ? "asked for by bind alone" : ranking;
    String cards = why.isEmpty() ? "the cards of an earlier try whose outcome was unknown" : "";
    return "node " + node + ": " + nodeWhy + "; " + String.join("; ", why) + cards;
  }

  /** A bind failed. */
  void failed(PodRequest pod, String node, String error) {
    decisions.bound(pod, node, error, Optional.empty());
    log.info("pod not bound [pod: {}, node: {}, cause: {}]", pod.pod(), node, error);
    events.warning(pod.pod(), "BindingFailed", error);
  }

  /** No node fits. */
  void fitsNowhere(PodRef pod, String text) {
    events.warning(pod, "FilteringFailed", text);
  }

  /** Nobody's going would make room. */
  void noVictims(PodRef pod, String text) {
    events.warning(pod, "PreemptionFailed", "preemption: " + text);
  }

  /** A gang would lose a member. */
  void gangDisrupted(PodRef pod, PodRequest victim) {
    events.warning(
        pod,
        "GangDisruptedByPreemption",
        "victim "
            + victim.pod().namespace()
            + "/"
            + victim.pod().name()
            + " is one of gang "
            + victim.traits().gang());
  }

  /** The request is not one that can be given. */
  void invalid(PodRef pod, String text) {
    events.warning(pod, "ResourceInvalid", text);
  }
}
