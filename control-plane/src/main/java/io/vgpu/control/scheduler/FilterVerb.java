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
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * Which nodes a pod fits on: every one of them, the best of which are named, and a reason for each
 * other one (control-plane.md 3.1, 3.8). Reads one snapshot, writes nothing (D1). Any thread.
 */
final class FilterVerb {
  static final Refused MISSED = Refused.of(Reason.NODE_CACHE_MISS, "");

  private final Allocator allocator;
  private final Alignments alignments;
  private final ExtenderJson json;
  private final Shortlists shortlists;
  private final int coreHeadroom;
  private final LongSupplier nanoTime;

  /** What filter found. */
  sealed interface Answer permits Answer.Echo, Answer.Failed, Judged {
    /** Not ours: the nodes go back as they came. */
    record Echo() implements Answer {}

    /** The pod cannot be judged; {@code demand} when it is the pod's own fault. */
    record Failed(String error, boolean demand) implements Answer {}
  }

  /** A pod's likely cards, for other pods to respect. */
  record Hold(String podUid, String node, Footprint footprint) {}

  FilterVerb(
      Allocator allocator,
      Alignments alignments,
      ExtenderJson json,
      Shortlists shortlists,
      int coreHeadroom,
      LongSupplier nanoTime) {
    this.allocator = allocator;
    this.alignments = alignments;
    this.json = json;
    this.shortlists = shortlists;
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
    Asked asked = asked(args, snapshot);
    return asked.size() == 0
        ? new Answer.Failed("No schedulable nodes", false)
        : judge(pod.request(), args.soft(), asked, snapshot);
  }

  private Judged judge(PodRequest pod, boolean soft, Asked asked, ClusterSnapshot snapshot) {
    Alignment alignment = alignments.of(pod, snapshot::node);
    long now = nanoTime.getAsLong();
    QuickFit quick = QuickFit.of(pod, alignment).orElse(null);
    @Nullable Refused[] refusals = new Refused[asked.size()];
    for (int i = 0; i < refusals.length; i++) {
      NodeView node = asked.views()[i];
      if (node == null) {
        refusals[i] = MISSED;
      } else if (quick != null) {
        refusals[i] = quick.refusal(node, now);
      } else {
        refusals[i] = plan(pod, node, now, alignment) instanceof Refused no ? no : null;
      }
    }
    Judged judged = new Judged(asked, refusals, node -> plan(pod, node, now, alignment));
    return soft || !shortlists.shortens(judged.fits())
        ? judged
        : judged.naming(
            shortlists.of(pod, asked, judged.fittingByName(), alignment, snapshot, now));
  }

  private Verdict plan(PodRequest pod, NodeView node, long now, Alignment alignment) {
    return allocator.plan(pod, node.standing(pod.pod().uid(), now, true), Look.QUICK, alignment);
  }

  /** Names are looked up; full nodes stand for themselves where the watch does not know them. */
  Asked asked(ExtenderArgs args, ClusterSnapshot snapshot) {
    NameList names = args.nodeNames();
    if (names != null && !names.isEmpty()) {
      return Asked.of(names, snapshot);
    }
    Map<String, NodeView> nodes = new LinkedHashMap<>();
    for (JsonNode item : args.items()) {
      readNode(item)
          .ifPresent(
              node ->
                  nodes.put(
                      node.name(),
                      snapshot
                          .node(node.name())
                          .orElseGet(() -> NodeView.empty(node, coreHeadroom))));
    }
    return Asked.of(nodes);
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
    if (!(answer instanceof Judged judged)) {
      return "";
    }
    int fitting = judged.fits();
    int all = judged.nodes();
    if (all == 1) {
      return "the only node asked about";
    }
    if (fitting == 1) {
      return "the only one of " + all + " nodes that fits";
    }
    int offered = judged.shortlist().size();
    return "one of "
        + (offered < fitting ? offered + " offered of " : "")
        + fitting
        + " nodes that fit of "
        + all
        + ", kube-scheduler's own choice";
  }

  /** With one node offered kube-scheduler does not ask prioritize: hold here. */
  static Optional<Hold> holdOf(PodRequest pod, Answer answer) {
    if (answer instanceof Judged judged
        && judged.shortlist().size() == 1
        && judged.verdict(judged.offered(1).getFirst()) instanceof Verdict.Fits fits) {
      Placement only = fits.placement();
      return Optional.of(new Hold(pod.pod().uid(), only.node(), only.footprint()));
    }
    return Optional.empty();
  }
}
