package io.vgpu.control.scheduler;

import io.vertx.core.buffer.Buffer;
import io.vgpu.claim.FormatException;
import io.vgpu.control.cluster.ClusterSnapshot;
import io.vgpu.control.cluster.NodeRecord;
import io.vgpu.control.cluster.NodeView;
import io.vgpu.control.cluster.PodRecord;
import io.vgpu.control.metrics.SchedulerMeters.Result;
import io.vgpu.control.scheduler.DryRunBody.Span;
import io.vgpu.control.scheduler.Verdict.Refused;
import io.vgpu.control.scheduler.policy.Look;
import io.vgpu.control.scheduler.topology.Alignment;
import io.vgpu.model.DemandCheck;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.LongSupplier;
import tools.jackson.databind.node.ObjectNode;

/**
 * What filter would say, asked with whole nodes that may not exist yet (control-plane.md 1.1, 3.8):
 * one node at a time is read from the body, so that it costs little beside the body itself. No
 * hold, no event, no write. One thread at a time.
 */
final class DryRunVerb {
  static final String NAMES_ONLY =
      "filter-dryrun needs the nodes themselves: set nodeCacheCapable=false, because a node that"
          + " does not exist yet is in nobody's cache";

  private final Allocator allocator;
  private final Alignments alignments;
  private final ExtenderJson json;
  private final int coreHeadroom;
  private final LongSupplier nanoTime;

  /** The answer in full, and why nodes were refused. */
  record Answer(Reply reply, Result result, Map<String, Refused> refused) {}

  DryRunVerb(
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

  /** Judges; throws {@link FormatException} for a body that cannot be read. */
  Answer run(byte[] bytes, ClusterSnapshot snapshot) {
    DryRunBody body = DryRunBody.read(bytes);
    Optional<PodRecord> pod = body.pod().map(span -> json.pod(bytes, span));
    if (pod.isEmpty()) {
      return error("extenderArgs.Pod cannot be empty");
    }
    if (pod.get().nodeName() != null) {
      return error("pod has been bound to node \"" + pod.get().nodeName() + "\"");
    }
    Optional<String> breach = DemandCheck.firstBreach(pod.get().request().demand());
    if (breach.isPresent()) {
      return error(breach.get());
    }
    if (body.nodes().isEmpty()) {
      return error(body.namesSent() ? NAMES_ONLY : "No schedulable nodes");
    }
    return pod.get().request().demand().asksForVgpu()
        ? judge(bytes, body, pod.get(), snapshot)
        : new Answer(reply(bytes, body, body.nodes(), Map.of()), Result.PASSTHROUGH, Map.of());
  }

  private static Answer error(String text) {
    return new Answer(Reply.json(ExtenderAnswers.filterError(text)), Result.ERROR, Map.of());
  }

  private Answer judge(byte[] bytes, DryRunBody body, PodRecord pod, ClusterSnapshot snapshot) {
    Alignment alignment = alignments.of(pod.request(), snapshot::node);
    long now = nanoTime.getAsLong();
    List<Span> fitting = new ArrayList<>();
    Map<String, Refused> refused = new LinkedHashMap<>();
    for (Span span : body.nodes()) {
      Optional<NodeRecord> node = json.node(bytes, span);
      if (node.isPresent()) {
        NodeView view =
            snapshot
                .node(node.get().name())
                .orElseGet(() -> NodeView.empty(node.get(), coreHeadroom));
        switch (allocator.plan(
            pod.request(), view.standing(pod.uid(), now, false), Look.QUICK, alignment)) {
          case Verdict.Fits fits -> fitting.add(span);
          case Refused no -> refused.put(view.name(), no);
        }
      }
    }
    return new Answer(
        reply(bytes, body, fitting, refused),
        fitting.isEmpty() ? Result.NO_FIT : Result.FIT,
        refused);
  }

  /** Nodes go back as they came, byte by byte. */
  private static Reply reply(
      byte[] bytes, DryRunBody body, List<Span> fitting, Map<String, Refused> refused) {
    Buffer out = Buffer.buffer("{\"Nodes\":{");
    body.listFields()
        .forEach(
            (name, span) ->
                out.appendString(ExtenderJson.JSON.writeValueAsString(name))
                    .appendString(":")
                    .appendBytes(bytes, span.from(), span.length())
                    .appendString(","));
    out.appendString("\"items\":[");
    for (int i = 0; i < fitting.size(); i++) {
      out.appendString(i == 0 ? "" : ",");
      out.appendBytes(bytes, fitting.get(i).from(), fitting.get(i).length());
    }
    ObjectNode failed = ExtenderJson.JSON.createObjectNode();
    refused.forEach((node, r) -> failed.put(node, r.detailed()));
    out.appendString("]},\"NodeNames\":null,\"FailedNodes\":")
        .appendString(failed.toString())
        .appendString(",\"FailedAndUnresolvableNodes\":null,\"Error\":\"\"}");
    return Reply.json(out);
  }
}
