package io.vgpu.control.scheduler;

import io.vertx.core.Future;
import io.vgpu.claim.FormatException;
import io.vgpu.control.cluster.ClusterState;
import io.vgpu.control.cluster.PodRecord;
import io.vgpu.control.cluster.PodRequest;
import io.vgpu.control.metrics.SchedulerMeters;
import io.vgpu.control.metrics.SchedulerMeters.Result;
import io.vgpu.control.metrics.SchedulerMeters.Verb;
import io.vgpu.control.scheduler.PreemptVerb.Scene;
import io.vgpu.runtime.Lane;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * The verbs that are asked for now and then, from body to answer: preempt, and the autoscaler's dry
 * run. A dry run has a thread of its own, so that a thousand template nodes never stand before a
 * live pod. Any thread; an answer always comes (control-plane.md 1.1, 4.2).
 */
final class RareVerbs {
  private final ExtenderJson json;
  private final PreemptVerb preempt;
  private final DryRunVerb dryRun;
  private final Alignments alignments;
  private final ClusterState state;
  private final Lane lane;
  private final SnapshotReaders readers;
  private final SnapshotReaders dryRunner;
  private final PlacementNews news;
  private final SchedulerMeters meters;
  private final ExtenderService.Readiness live;
  private final ExtenderService.Readiness withBudgets;
  private final VerbClock clock;

  RareVerbs(
      ExtenderJson json,
      PreemptVerb preempt,
      DryRunVerb dryRun,
      Alignments alignments,
      ClusterState state,
      Lane lane,
      SnapshotReaders readers,
      SnapshotReaders dryRunner,
      PlacementNews news,
      SchedulerMeters meters,
      ExtenderService.Readiness live,
      ExtenderService.Readiness withBudgets,
      VerbClock clock) {
    this.json = json;
    this.preempt = preempt;
    this.dryRun = dryRun;
    this.alignments = alignments;
    this.state = state;
    this.lane = lane;
    this.readers = readers;
    this.dryRunner = dryRunner;
    this.news = news;
    this.meters = meters;
    this.live = live;
    this.withBudgets = withBudgets;
    this.clock = clock;
  }

  /** POST /scheduler/filter-dryrun. */
  Future<Reply> dryRun(byte[] body) {
    Done unsynced = failed(ExtenderService.NOT_SYNCED);
    return clock.timed(
        Verb.FILTER_DRYRUN,
        () ->
            live.await()
                .compose(
                    ready ->
                        ready
                            ? dryRunner.read(() -> dryRunNow(body))
                            : Future.succeededFuture(unsynced)),
        text -> Reply.json(ExtenderAnswers.filterError(text)));
  }

  private Done dryRunNow(byte[] body) {
    try {
      DryRunVerb.Answer answer = dryRun.run(body, state.snapshot());
      answer.refused().values().forEach(r -> meters.reject(Verb.FILTER_DRYRUN, r.reason()));
      return new Done(answer.reply(), answer.result());
    } catch (FormatException e) {
      return failed(String.valueOf(e.getMessage()));
    }
  }

  private static Done failed(String error) {
    return new Done(Reply.json(ExtenderAnswers.filterError(error)), Result.ERROR);
  }

  /** POST /scheduler/preempt. */
  Future<Reply> preempt(byte[] body) {
    Done unsynced = new Done(Reply.text(503, ExtenderService.NOT_SYNCED + "\n"), Result.ERROR);
    return clock.timed(
        Verb.PREEMPT,
        () ->
            withBudgets
                .await()
                .compose(ready -> ready ? preemptNow(body) : Future.succeededFuture(unsynced)),
        text -> Reply.text(503, text + "\n"));
  }

  private Future<Done> preemptNow(byte[] body) {
    return readers
        .read(() -> decode(body))
        .compose(
            decoded ->
                switch (decoded) {
                  case Decoded.Wrong wrong ->
                      Future.succeededFuture(
                          new Done(Reply.text(400, wrong.text() + "\n"), Result.ERROR));
                  case Decoded.Args args -> judge(args.args());
                });
  }

  private sealed interface Decoded {
    record Args(PreemptArgs args) implements Decoded {}

    record Wrong(String text) implements Decoded {}
  }

  private Decoded decode(byte[] body) {
    try {
      return new Decoded.Args(json.preemptArgs(body));
    } catch (FormatException e) {
      return new Decoded.Wrong(String.valueOf(e.getMessage()));
    }
  }

  private Future<Done> judge(PreemptArgs args) {
    PodRecord pod = args.pod();
    if (pod == null || !pod.request().demand().asksForVgpu()) {
      return Future.succeededFuture(
          new Done(Reply.json(ExtenderAnswers.victimsAsSent(args)), Result.PASSTHROUGH));
    }
    return lane.call(() -> scenes(args.nodes().keySet()))
        .compose(scenes -> readers.read(() -> judge(pod.request(), args, scenes)));
  }

  /** Who is bound where, at one moment of the lane. */
  private Map<String, Scene> scenes(Set<String> nodes) {
    Map<String, Scene> scenes = new LinkedHashMap<>();
    for (String name : nodes) {
      Optional<io.vgpu.control.cluster.NodeView> node = state.node(name);
      node.ifPresent(n -> scenes.put(name, new Scene(n, state.boundTo(name))));
    }
    return scenes;
  }

  private Done judge(PodRequest pod, PreemptArgs args, Map<String, Scene> scenes) {
    PreemptVerb.Answer answer =
        preempt.run(
            pod, args.nodes(), scenes, alignments.of(pod, name -> state.snapshot().node(name)));
    answer.shields().forEach(s -> meters.victimProtected(s.word()));
    answer.nodes().values().forEach(c -> meters.victimsAdded(c.added()));
    answer.dropped().values().forEach(r -> meters.reject(Verb.PREEMPT, r.reason()));
    if (answer.nodes().isEmpty() && !args.nodes().isEmpty()) {
      news.noVictims(pod.pod(), AggregateText.of(args.nodes().size(), answer.dropped()));
    }
    answer.nodes().values().stream()
        .flatMap(c -> c.victims().stream())
        .filter(v -> !v.request().traits().gang().isEmpty())
        .findFirst()
        .ifPresent(v -> news.gangDisrupted(pod.pod(), v.request()));
    return new Done(
        Reply.json(ExtenderAnswers.victims(answer.nodes())),
        answer.nodes().isEmpty() ? Result.NO_VICTIMS : Result.VICTIMS);
  }
}
