package io.vgpu.control.scheduler;

import io.vgpu.control.cluster.PodRequest;
import io.vgpu.control.scheduler.Verdict.Refused;
import io.vgpu.model.Reason;
import java.time.Instant;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What was decided about one pod, as far as its last try went. Of the nodes only some are kept, the
 * counts are of all. Immutable.
 */
record Decision(
    PodRequest pod, Optional<Filtered> filtered, Optional<Ranked> ranked, Optional<Bound> bound) {
  /** Nodes kept in full, and how many of each reason at least while there is room. */
  static final int NODES = 32;

  private static final int OF_EACH_REASON = 8;

  /**
   * What filter said.
   *
   * @param error it could not be judged; empty when it was
   * @param nodes how many were asked about
   * @param reasons how many were refused for which
   * @param refused some of the refused
   * @param offered how many of those that fit were named to kube-scheduler
   * @param fitting some of them
   * @param others of those that fit, why they were not named; empty where all were
   * @param passedOver some of the others
   */
  record Filtered(
      Instant at,
      String error,
      int nodes,
      int fits,
      int offered,
      Map<Reason, Integer> reasons,
      Map<String, Refused> refused,
      List<String> fitting,
      String others,
      List<String> passedOver,
      String text) {
    static Filtered failed(Instant at, String error) {
      return new Filtered(at, error, 0, 0, 0, Map.of(), Map.of(), List.of(), "", List.of(), error);
    }

    static Filtered of(Instant at, Judged judged) {
      Map<Reason, Integer> seen = new EnumMap<>(Reason.class);
      Map<String, Refused> some = new LinkedHashMap<>();
      int wanted = 0;
      for (int count : judged.reasons().values()) {
        wanted += Math.min(count, OF_EACH_REASON);
      }
      wanted = Math.min(wanted, NODES);
      for (int i = 0; some.size() < wanted; i++) {
        Refused no = judged.refusal(i);
        if (no != null && seen.merge(no.reason(), 1, Integer::sum) <= OF_EACH_REASON) {
          some.put(
              judged.asked().names().get(i), judged.verdict(i) instanceof Refused full ? full : no);
        }
      }
      return new Filtered(
          at,
          "",
          judged.nodes(),
          judged.fits(),
          judged.shortlist().size(),
          judged.reasons(),
          some,
          judged.offered(NODES),
          judged.shortlist().others(),
          judged.shortlist().next().stream().map(i -> judged.asked().known(i).name()).toList(),
          judged.fits() == 0 ? AggregateText.of(judged) : "");
    }
  }

  /** How the best nodes compared. */
  record Ranked(Instant at, String why, List<Scored> nodes) {}

  /**
   * One of them.
   *
   * @param level what kube-scheduler was told, 0 to 10
   * @param parts what the score is made of, in words
   */
  record Scored(String node, int level, int fitness, double score, String parts) {}

  /**
   * What bind did.
   *
   * @param error empty when the pod was bound
   * @param plan cards and why; null where it was never planned
   */
  record Bound(Instant at, String node, String error, @Nullable Placement plan) {}
}
