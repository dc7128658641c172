package io.vgpu.control.scheduler;

import io.vgpu.control.cluster.ClusterSnapshot;
import io.vgpu.control.cluster.NodeView;
import io.vgpu.control.cluster.PodRequest;
import io.vgpu.control.cluster.Standing;
import io.vgpu.control.scheduler.Verdict.Refused;
import io.vgpu.control.scheduler.policy.CardRank;
import io.vgpu.control.scheduler.policy.Look;
import io.vgpu.control.scheduler.topology.Alignment;
import io.vgpu.model.ContainerClaim;
import io.vgpu.model.ContainerDemand;
import io.vgpu.model.DeviceClaim;
import io.vgpu.model.Reason;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * The explanation of one pod as JSON: what the last try decided and why, and for a pod that waits
 * what would have to be different now. Any thread; costs a few hundred plans at most.
 */
final class ExplainPage {
  private static final int A_PAGE = 256;

  /** Of this process: the numbers of another one's changes mean nothing here. */
  private final String instance = UUID.randomUUID().toString();

  private final DecisionLog log;
  private final Supplier<ClusterSnapshot> snapshots;
  private final Allocator allocator;
  private final Alignments alignments;
  private final Counterfactual counterfactual;
  private final LongSupplier nanoTime;

  ExplainPage(
      DecisionLog log,
      Supplier<ClusterSnapshot> snapshots,
      Allocator allocator,
      Alignments alignments,
      LongSupplier nanoTime) {
    this.log = log;
    this.snapshots = snapshots;
    this.allocator = allocator;
    this.alignments = alignments;
    this.counterfactual = new Counterfactual(allocator);
    this.nanoTime = nanoTime;
  }

  /** Of a pod; empty when nothing is known of it. */
  Optional<String> of(String namespace, String name) {
    return log.find(namespace, name).map(this::page).map(ObjectNode::toString);
  }

  /**
   * What was decided after change {@code since}, for a collector that comes again and again: what
   * was true then, without how it would be now.
   */
  String decisions(long since) {
    List<DecisionLog.Noted> noted = log.since(since, A_PAGE);
    ObjectNode page = ExtenderJson.JSON.createObjectNode();
    page.put("instance", instance);
    page.put("last", noted.isEmpty() ? since : noted.getLast().sequence());
    page.put("more", noted.size() == A_PAGE);
    ArrayNode all = page.putArray("decisions");
    noted.forEach(n -> all.add(told(n.decision())));
    return page.toString();
  }

  private ObjectNode page(Decision d) {
    ObjectNode page = told(d);
    boolean waits = d.bound().map(b -> !b.error().isEmpty()).orElse(true);
    if (waits && d.pod().demand().asksForVgpu()) {
      now(page.putObject("now"), d);
    }
    return page;
  }

  private static ObjectNode told(Decision d) {
    ObjectNode page = ExtenderJson.JSON.createObjectNode();
    page.putObject("pod")
        .put("namespace", d.pod().pod().namespace())
        .put("name", d.pod().pod().name())
        .put("uid", d.pod().pod().uid());
    request(page, d.pod());
    d.filtered().ifPresent(f -> filtered(page.putObject("filter"), f));
    d.ranked().ifPresent(r -> ranked(page.putObject("ranking"), r));
    d.bound().ifPresent(b -> bound(page.putObject("bind"), b));
    return page;
  }

  private static void request(ObjectNode page, PodRequest pod) {
    ArrayNode containers = page.putArray("request");
    for (ContainerDemand c : pod.demand().containers()) {
      containers
          .addObject()
          .put("container", c.name())
          .put("number", c.number())
          .put("cores", c.cores())
          .put("memory", c.memory());
    }
  }

  private static void filtered(ObjectNode to, Decision.Filtered f) {
    to.put("at", f.at().toString()).put("nodes", f.nodes()).put("fits", f.fits());
    to.put("offered", f.offered());
    to.put("text", f.text());
    ObjectNode reasons = to.putObject("reasons");
    f.reasons().forEach((r, n) -> reasons.put(r.code(), n));
    ArrayNode refused = to.putArray("refused");
    f.refused().forEach((node, r) -> refused(refused.addObject(), node, r));
    ArrayNode fitting = to.putArray("fitting");
    f.fitting().forEach(fitting::add);
    ArrayNode passedOver = to.putArray("notOffered");
    f.passedOver()
        .forEach(
            node ->
                passedOver
                    .addObject()
                    .put("node", node)
                    .put("why", "fits, not offered: " + f.others()));
  }

  private static void refused(ObjectNode to, String node, Refused r) {
    to.put("node", node).put("code", r.reason().code()).put("reason", r.reason().phrase());
    to.put("detail", r.detail());
    if (!r.counters().isEmpty()) {
      ObjectNode cards = to.putObject("cards");
      r.counters().forEach((reason, n) -> cards.put(reason.code(), n));
    }
  }

  private static void ranked(ObjectNode to, Decision.Ranked r) {
    to.put("at", r.at().toString()).put("why", r.why());
    ArrayNode nodes = to.putArray("nodes");
    for (Decision.Scored s : r.nodes()) {
      nodes
          .addObject()
          .put("node", s.node())
          .put("level", s.level())
          .put("fitness", s.fitness())
          .put("score", s.score())
          .put("parts", s.parts());
    }
  }

  private static void bound(ObjectNode to, Decision.Bound b) {
    to.put("at", b.at().toString()).put("node", b.node()).put("error", b.error());
    Placement plan = b.plan();
    if (plan == null) {
      return;
    }
    ArrayNode containers = to.putArray("containers");
    for (int i = 0; i < plan.choices().size(); i++) {
      Choice choice = plan.choices().get(i);
      ObjectNode container = containers.addObject();
      container.put("container", choice.container()).put("order", choice.policy());
      container.put("together", choice.topology().result().word());
      container.put("fallback", choice.topology().fallback());
      container.put("why", choice.words());
      ArrayNode devices = container.putArray("devices");
      plan.claim().containers().stream()
          .filter(c -> c.container().equals(choice.container()))
          .findFirst()
          .ifPresent(claim -> devices(devices, choice, claim));
    }
  }

  /** Every card of the node: given and why, passed over, or none at all. */
  private static void devices(ArrayNode to, Choice choice, ContainerClaim claim) {
    for (DeviceClaim d : claim.devices()) {
      ObjectNode device = to.addObject();
      device.put("card", d.index()).put("uuid", d.uuid().value()).put("given", true);
      device.put("cores", d.cores().value()).put("memory", d.memory().value());
      int place = place(choice.candidates(), d.index());
      device.put(
          "why",
          place == 0
              ? "its init container's"
              : "place " + place + " of " + choice.candidates().size() + " by " + choice.policy());
    }
    List<Integer> given = claim.devices().stream().map(DeviceClaim::index).toList();
    for (int i = 0; i < choice.candidates().size(); i++) {
      CardRank c = choice.candidates().get(i);
      if (!given.contains(c.id())) {
        to.addObject()
            .put("card", c.id())
            .put("given", false)
            .put("why", "place " + (i + 1) + " of " + choice.candidates().size());
      }
    }
    for (int at = 0; at < choice.failed().size(); at++) {
      Reason reason = choice.failed().get(at);
      if (reason != null) {
        to.addObject().put("card", at).put("given", false).put("why", reason.phrase());
      }
    }
  }

  private static int place(List<CardRank> candidates, int id) {
    for (int i = 0; i < candidates.size(); i++) {
      if (candidates.get(i).id() == id) {
        return i + 1;
      }
    }
    return 0;
  }

  /** The same question asked anew, and what would turn its answer. */
  private void now(ObjectNode to, Decision d) {
    ClusterSnapshot snapshot = snapshots.get();
    Alignment alignment = alignments.of(d.pod(), snapshot::node);
    ArrayNode nodes = to.putArray("nodes");
    for (Map.Entry<String, NodeView> e : kept(d, snapshot).entrySet()) {
      Standing node = Counterfactual.standing(d.pod(), e.getValue(), nanoTime.getAsLong());
      ObjectNode entry = nodes.addObject();
      switch (allocator.plan(d.pod(), node, Look.QUICK, alignment)) {
        case Verdict.Fits fits -> entry.put("node", e.getKey()).put("fits", true);
        case Refused no -> {
          refused(entry, e.getKey(), no);
          entry.put("fits", false);
          ArrayNode would = entry.putArray("wouldFitWith");
          for (Counterfactual.Limit l : counterfactual.limits(d.pod(), node, alignment)) {
            would
                .addObject()
                .put("container", l.container())
                .put("resource", l.resource().word())
                .put("asked", l.asked())
                .put("atMost", l.atMost());
          }
        }
      }
    }
  }

  /** The nodes that the decision kept, refused ones first. */
  private static Map<String, NodeView> kept(Decision d, ClusterSnapshot snapshot) {
    List<String> names = new ArrayList<>();
    d.filtered()
        .ifPresent(
            f -> {
              names.addAll(f.refused().keySet());
              names.addAll(f.fitting());
            });
    Map<String, NodeView> nodes = new LinkedHashMap<>();
    for (String name : names) {
      if (nodes.size() < Decision.NODES) {
        snapshot.node(name).ifPresent(n -> nodes.put(name, n));
      }
    }
    return nodes;
  }
}
