package io.vgpu.agent.deviceplugin;

import io.grpc.StatusRuntimeException;
import io.micrometer.core.instrument.MeterRegistry;
import io.vgpu.agent.kube.KubeletPods;
import io.vgpu.agent.kube.NodePod;
import io.vgpu.agent.kube.NodePods;
import io.vgpu.agent.kubelet.ListedPod;
import io.vgpu.agent.kubelet.PodResources;
import io.vgpu.agent.metrics.AgentMeters;
import io.vgpu.model.Reason;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Looks around, in the order of D3: pod-resources {@code List} for who has no devices, the
 * kubelet's {@code /pods} for who they are, and, where that port does not answer, the API's watch,
 * its memory of deleted pods and single GETs. Blocks within the deadline; virtual threads only.
 */
final class PodViews {
  private static final Duration LIST_MAX = Duration.ofSeconds(1);
  private static final Duration KUBELET_MAX = Duration.ofMillis(700);
  private static final Duration FETCH_MAX = Duration.ofMillis(500);
  private static final int MAX_FETCHES = 8;

  private final PodResources podResources;
  private final KubeletPods kubeletPods;
  private final NodePods nodePods;
  private final MeterRegistry meters;

  PodViews(
      PodResources podResources, KubeletPods kubeletPods, NodePods nodePods, MeterRegistry meters) {
    this.podResources = podResources;
    this.kubeletPods = kubeletPods;
    this.nodePods = nodePods;
    this.meters = meters;
  }

  /** The kubelet's view where it answers, else the API's. */
  Outcome<PodView> look(Deadline deadline) {
    return switch (listed(deadline)) {
      case Outcome.Refused<List<ListedPod>> r -> r.as();
      case Outcome.Given<List<ListedPod>>(List<ListedPod> listed) -> {
        Optional<List<NodePod>> ofKubelet = kubeletPods.get(deadline.atMost(KUBELET_MAX));
        AgentMeters.IDENTITY_VIEWS
            .counter(meters, ofKubelet.isPresent() ? "kubelet" : "api")
            .increment();
        yield Outcome.given(
            ofKubelet
                .map(
                    pods ->
                        new PodView(
                            listed, pods.stream().map(this::merged).toList(), true, this::apiHas))
                .orElseGet(() -> byApi(listed)));
      }
    };
  }

  /** The list, with what the API's watch has told already: the quickest look. */
  Outcome<PodView> lookInMemory(Deadline deadline) {
    return switch (listed(deadline)) {
      case Outcome.Refused<List<ListedPod>> r -> r.as();
      case Outcome.Given<List<ListedPod>>(List<ListedPod> listed) -> Outcome.given(byApi(listed));
    };
  }

  private Outcome<List<ListedPod>> listed(Deadline deadline) {
    try {
      List<ListedPod> listed = podResources.list(deadline.atMost(LIST_MAX));
      AgentMeters.POD_RESOURCES_CALLS.counter(meters, "ok").increment();
      return Outcome.given(listed);
    } catch (StatusRuntimeException e) {
      AgentMeters.POD_RESOURCES_CALLS.counter(meters, "failed").increment();
      return Outcome.refused(
          Reason.POD_SOURCES_UNREACHABLE, "pod-resources List: " + e.getStatus());
    }
  }

  /** What the API's watch knows of the listed pods, deleted ones among them. */
  PodView byApi(List<ListedPod> listed) {
    List<NodePod> pods = new ArrayList<>(nodePods.live());
    for (ListedPod l : listed) {
      nodePods.named(l.namespace(), l.name()).stream().filter(p -> !apiHas(p)).forEach(pods::add);
    }
    return new PodView(listed, pods, false, this::apiHas);
  }

  /** The API's view, with a GET for each listed pod that the watch has not heard of. */
  PodView byFetching(List<ListedPod> listed, Deadline deadline) {
    AgentMeters.IDENTITY_VIEWS.counter(meters, "fetched").increment();
    PodView view = byApi(listed);
    List<NodePod> pods = new ArrayList<>(view.pods());
    listed.stream()
        .filter(l -> view.named(l).isEmpty())
        .limit(MAX_FETCHES)
        .map(l -> nodePods.fetch(l.namespace(), l.name(), deadline.atMost(FETCH_MAX)))
        .flatMap(Optional::stream)
        .forEach(pods::add);
    return new PodView(listed, pods, false, this::apiHas);
  }

  private NodePod merged(NodePod pod) {
    return nodePods.live(pod.ref().uid()).map(pod::mergedWith).orElse(pod);
  }

  private boolean apiHas(NodePod pod) {
    return nodePods.live(pod.ref().uid()).isPresent();
  }

  private boolean apiHas(String uid) {
    return !nodePods.synced() || nodePods.live(uid).isPresent();
  }
}
