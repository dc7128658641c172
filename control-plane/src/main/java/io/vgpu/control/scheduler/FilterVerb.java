package io.vgpu.control.scheduler;

import io.vgpu.claim.FormatException;
import io.vgpu.control.cluster.ClusterSnapshot;
import io.vgpu.control.cluster.Footprint;
import io.vgpu.control.cluster.NodeRecord;
import io.vgpu.control.cluster.NodeView;
import io.vgpu.control.cluster.PodRecord;
import io.vgpu.control.cluster.PodRequest;
import io.vgpu.control.kube.SlimRecords;
import io.vgpu.control.scheduler.Verdict.Refused;
import io.vgpu.control.scheduler.policy.Look;
import io.vgpu.control.scheduler.topology.Alignment;
import io.vgpu.model.DemandCheck;
import io.vgpu.model.Reason;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * Which nodes a pod fits on: every one of them, and a reason for each other one (control-plane.md
 * 3.1, 3.8). Reads one snapshot, writes nothing (D1). Any thread.
 */
final class FilterVerb {
  private static final Refused MISSED = Refused.of(Reason.NODE_CACHE_MISS, "");

  private final Allocator allocator;
  private final Alignments alignments;
  private final ExtenderJson json;
  private final int coreHeadroom;
  private final LongSupplier nanoTime;

  /** What filter found. */
  sealed interface Answer {
    /** Not ours: the nodes go back as they came. */
    record Echo() implements Answer {}

    /** The pod cannot be judged; {@code demand} when it is the pod's own fault. */
    record Failed(String error, boolean demand) implements Answer {}

    /**
     * The nodes that fit, in request order, and why the others do not.
     *
     * @param verdicts the allocator's full word on one of them
     */
    record Judged(
        List<String> fitting, Map<String, Refused> refused, Function<String, Verdict> verdicts)
        implements Answer {}
  }

  /** A pod's likely cards, for other pods to respect. */
  record Hold(String podUid, String node, Footprint footprint) {}

  FilterVerb(
      Allocator allocator,
      Alignments alignments,
      ExtenderJson json,
      int coreHeadroom,
      LongSupplier nanoTime) {
    this.allocator = allocator;
    this.alignments = alignments;
    this.json = json;
    this.coreHeadroom = coreHeadroom;
    this.nanoTime = nanoTime;
  }

  /** Judges; never fails. */
  Answer run(ExtenderArgs args, ClusterSnapshot snapshot) {
    PodRecord pod = args.pod();
    if (pod == null) {
      return new Answer.Failed("extenderArgs.Pod cannot be empty", false);
    }
    if (pod.nodeName() != null) {
      return new Answer.Failed("pod has been bound to node \"" + pod.nodeName() + "\"", false);
    }
    Optional<String> breach = DemandCheck.firstBreach(pod.request().demand());
    if (breach.isPresent()
        && pod.request().demand().containers().stream().anyMatch(SlimRecords::asks)) {
      return new Answer.Failed(breach.get(), true);
    }
    if (!pod.request().demand().asksForVgpu()) {
      return new Answer.Echo();
    }
    Map<String, Optional<NodeView>> candidates = candidates(args, snapshot);
    return candidates.isEmpty()
        ? new Answer.Failed("No schedulable nodes", false)
        : judge(pod.request(), candidates, alignments.of(pod.request(), snapshot::node));
  }

  private Answer.Judged judge(
      PodRequest pod, Map<String, Optional<NodeView>> candidates, Alignment alignment) {
    long now = nanoTime.getAsLong();
    Optional<QuickFit> quick = QuickFit.of(pod);
    List<String> fitting = new ArrayList<>(candidates.size());
    Map<String, Refused> refused = new LinkedHashMap<>();
    candidates.forEach(
        (name, node) -> {
          Refused no = node.isEmpty() ? MISSED : refusal(pod, node.get(), quick, now, alignment);
          if (no == null) {
            fitting.add(name);
          } else {
            refused.put(name, no);
          }
        });
    return new Answer.Judged(
        fitting,
        refused,
        name ->
            candidates
                .getOrDefault(name, Optional.empty())
                .map(n -> plan(pod, n, now, alignment))
                .orElse(MISSED));
  }

  /** Null where the pod fits. */
  private @Nullable Refused refusal(
      PodRequest pod, NodeView node, Optional<QuickFit> quick, long now, Alignment alignment) {
    if (quick.isPresent() && QuickFit.plain(node)) {
      Reason reason = quick.get().refusal(node);
      return reason == null ? null : Refused.bare(reason);
    }
    return plan(pod, node, now, alignment) instanceof Refused no ? no : null;
  }

  private Verdict plan(PodRequest pod, NodeView node, long now, Alignment alignment) {
    return allocator.plan(pod, node.standing(pod.pod().uid(), now, true), Look.QUICK, alignment);
  }

  /** Names are looked up; full nodes stand for themselves where the watch does not know them. */
  Map<String, Optional<NodeView>> candidates(ExtenderArgs args, ClusterSnapshot snapshot) {
    Map<String, Optional<NodeView>> candidates = new LinkedHashMap<>();
    List<String> names = args.nodeNames();
    if (names != null && !names.isEmpty()) {
      names.forEach(name -> candidates.put(name, snapshot.node(name)));
      return candidates;
    }
    for (JsonNode item : args.items()) {
      readNode(item)
          .ifPresent(
              node ->
                  candidates.put(
                      node.name(),
                      snapshot
                          .node(node.name())
                          .or(() -> Optional.of(NodeView.empty(node, coreHeadroom)))));
    }
    return candidates;
  }

  private Optional<NodeRecord> readNode(JsonNode item) {
    try {
      return json.node(item);
    } catch (FormatException e) {
      // a node that cannot be read is left out of the answer's list, like one that was not asked
      // for
      return Optional.empty();
    }
  }

  /** What filter found, in words; prioritize may have more to say afterwards. */
  static String why(Answer answer) {
    if (!(answer instanceof Answer.Judged judged)) {
      return "";
    }
    int fitting = judged.fitting().size();
    int all = fitting + judged.refused().size();
    if (all == 1) {
      return "the only node asked about";
    }
    return fitting == 1
        ? "the only one of " + all + " nodes that fits"
        : "one of " + fitting + " nodes that fit of " + all + ", kube-scheduler's own choice";
  }

  /** With one fitting node kube-scheduler does not ask prioritize: hold here. */
  static Optional<Hold> holdOf(PodRequest pod, Answer answer) {
    if (answer instanceof Answer.Judged judged
        && judged.fitting().size() == 1
        && judged.verdicts().apply(judged.fitting().getFirst()) instanceof Verdict.Fits fits) {
      Placement only = fits.placement();
      return Optional.of(new Hold(pod.pod().uid(), only.node(), only.footprint()));
    }
    return Optional.empty();
  }
}
