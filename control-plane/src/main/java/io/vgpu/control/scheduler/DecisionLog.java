package io.vgpu.control.scheduler;

import io.vgpu.control.cluster.PodRequest;
import java.time.Clock;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The last decisions, for those who ask why. At most {@value #MOST} pods, the longest untouched go
 * first. Any thread.
 */
final class DecisionLog {
  static final int MOST = 1024;

  private final Clock clock;
  private final Runnable dropped;
  private final Map<String, Noted> byName =
      new LinkedHashMap<>(64, 0.75f, true) {
        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Noted> eldest) {
          boolean full = size() > MOST;
          if (full && eldest.getValue().sequence() > collected) {
            dropped.run();
          }
          return full;
        }
      };
  private long sequence;
  private long collected;

  /** A decision and which change to the log it was. */
  record Noted(long sequence, Decision decision) {}

  /** {@code dropped}: told when a decision goes that nobody has collected. */
  DecisionLog(Clock clock, Runnable dropped) {
    this.clock = clock;
    this.dropped = dropped;
  }

  /** Filter has answered: a new try, of which nothing else is known yet. */
  void filtered(PodRequest pod, FilterVerb.Answer answer) {
    switch (answer) {
      case FilterVerb.Answer.Echo echo -> {}
      case FilterVerb.Answer.Failed failed ->
          put(pod, Decision.Filtered.failed(clock.instant(), failed.error()));
      case Judged judged -> put(pod, Decision.Filtered.of(clock.instant(), judged));
    }
  }

  private synchronized void put(PodRequest pod, Decision.Filtered filtered) {
    note(new Decision(pod, Optional.of(filtered), Optional.empty(), Optional.empty()));
  }

  private void note(Decision decision) {
    byName.put(key(decision.pod()), new Noted(++sequence, decision));
  }

  /** Decisions that were made or went on after change {@code since}, in order, so many at most. */
  synchronized List<Noted> since(long since, int most) {
    collected = Math.max(collected, since);
    return byName.values().stream()
        .filter(n -> n.sequence() > since)
        .sorted(Comparator.comparingLong(Noted::sequence))
        .limit(most)
        .toList();
  }

  /** Prioritize has answered. */
  synchronized void ranked(PodRequest pod, String why, List<Decision.Scored> best) {
    Decision before = of(pod);
    note(
        new Decision(
            pod,
            before.filtered(),
            Optional.of(new Decision.Ranked(clock.instant(), why, best)),
            Optional.empty()));
  }

  /** Bind has ended; {@code error} is empty when the pod is bound. */
  synchronized void bound(PodRequest pod, String node, String error, Optional<Placement> plan) {
    Decision before = of(pod);
    note(
        new Decision(
            pod,
            before.filtered(),
            before.ranked(),
            Optional.of(new Decision.Bound(clock.instant(), node, error, plan.orElse(null)))));
  }

  private Decision of(PodRequest pod) {
    Noted known = byName.get(key(pod));
    return known != null && known.decision().pod().pod().equals(pod.pod())
        ? known.decision()
        : new Decision(pod, Optional.empty(), Optional.empty(), Optional.empty());
  }

  /** What is known of the pod of that name. */
  synchronized Optional<Decision> find(String namespace, String name) {
    return Optional.ofNullable(byName.get(namespace + "/" + name)).map(Noted::decision);
  }

  private static String key(PodRequest pod) {
    return pod.pod().namespace() + "/" + pod.pod().name();
  }
}
