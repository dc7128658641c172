package io.vgpu.control.scheduler;

import io.vertx.core.Future;
import io.vgpu.claim.FormatException;
import io.vgpu.control.cluster.ClusterState;
import io.vgpu.control.cluster.PodRecord;
import io.vgpu.control.cluster.PodRequest;
import io.vgpu.control.cluster.TopologyMode;
import io.vgpu.control.metrics.SchedulerMeters;
import io.vgpu.control.metrics.SchedulerMeters.Result;
import io.vgpu.control.metrics.SchedulerMeters.Verb;
import io.vgpu.control.scheduler.FilterVerb.Answer;
import io.vgpu.control.scheduler.FilterVerb.Hold;
import io.vgpu.model.Reason;
import io.vgpu.runtime.Lane;
import java.util.Map;
import java.util.Optional;
import java.util.function.LongSupplier;

/**
 * The verbs from body to answer: decode, wait for the watches, read a snapshot or bind, count,
 * tell. Any thread; an answer always comes, whatever was sent (control-plane.md 1.1).
 */
final class ExtenderService {
  /** What kube-scheduler knows as "try again": the watches are not in yet. */
  static final String NOT_SYNCED = "context deadline exceeded";

  private final ExtenderJson json;
  private final FilterVerb filter;
  private final PrioritizeVerb prioritize;
  private final Binder binder;
  private final ClusterState state;
  private final Lane lane;
  private final SnapshotReaders readers;
  private final PendingPods pending;
  private final PlacementNews news;
  private final DecisionLog decisions;
  private final SchedulerMeters meters;
  private final Readiness readiness;
  private final VerbClock clock;
  private final SecondLook secondLook;

  /** Waits, but not for ever, for the watches: true when they are in. */
  @FunctionalInterface
  interface Readiness {
    Future<Boolean> await();
  }

  ExtenderService(
      ExtenderJson json,
      FilterVerb filter,
      PrioritizeVerb prioritize,
      Binder binder,
      ClusterState state,
      Lane lane,
      SnapshotReaders readers,
      PendingPods pending,
      PlacementNews news,
      DecisionLog decisions,
      SchedulerMeters meters,
      Readiness readiness,
      VerbClock clock,
      LongSupplier nanoTime) {
    this.json = json;
    this.filter = filter;
    this.prioritize = prioritize;
    this.binder = binder;
    this.state = state;
    this.lane = lane;
    this.readers = readers;
    this.pending = pending;
    this.news = news;
    this.decisions = decisions;
    this.meters = meters;
    this.readiness = readiness;
    this.clock = clock;
    this.secondLook = new SecondLook(state::snapshot, nanoTime);
  }

  /** POST /scheduler/filter. */
  Future<Reply> filter(byte[] body) {
    Done unsynced = new Done(Reply.json(ExtenderAnswers.filterError(NOT_SYNCED)), Result.ERROR);
    return clock.timed(
        Verb.FILTER,
        () ->
            readiness
                .await()
                .compose(
                    ready ->
                        ready
                            ? readers.read(() -> filterNow(body)).compose(this::held)
                            : Future.succeededFuture(unsynced)),
        text -> Reply.json(ExtenderAnswers.filterError(text)));
  }

  private Done filterNow(byte[] body) {
    ExtenderArgs args;
    try {
      args = json.args(body);
    } catch (FormatException e) {
      return new Done(
          Reply.json(ExtenderAnswers.filterError(String.valueOf(e.getMessage()))), Result.ERROR);
    }
    Answer answer = secondLook.judge(s -> filter.run(args, s), ExtenderService::fitsNowhere);
    Optional<Hold> hold = Optional.empty();
    PodRecord pod = args.pod();
    if (pod != null) {
      pending.asked(pod.request(), FilterVerb.why(answer));
      decisions.filtered(pod.request(), answer);
      tell(pod.request(), answer);
      hold = FilterVerb.holdOf(pod.request(), answer);
    }
    return new Done(Reply.json(ExtenderAnswers.filter(args, answer)), resultOf(answer), hold);
  }

  private static boolean fitsNowhere(Answer answer) {
    return answer instanceof Judged judged && judged.fits() == 0;
  }

  private void tell(PodRequest pod, Answer answer) {
    switch (answer) {
      case Answer.Echo echo -> {}
      case Answer.Failed failed -> {
        if (failed.demand()) {
          news.invalid(pod.pod(), failed.error());
        }
      }
      case Judged judged -> {
        Map<Reason, Integer> reasons = judged.reasons();
        reasons.forEach((reason, nodes) -> meters.reject(Verb.FILTER, reason, nodes));
        TopologyMode mode = pod.wishes().topology();
        reasons.forEach(
            (reason, nodes) -> {
              if (ofTopology(reason)) {
                meters.strictReject(mode, nodes);
              }
            });
        if (judged.fits() == 0) {
          news.fitsNowhere(pod.pod(), AggregateText.of(judged));
        }
      }
    }
  }

  private static boolean ofTopology(Reason reason) {
    return reason == Reason.LINK_TOPOLOGY_UNSATISFIED || reason == Reason.NUMA_TOPOLOGY_UNSATISFIED;
  }

  private static Result resultOf(Answer answer) {
    return switch (answer) {
      case Answer.Echo echo -> Result.PASSTHROUGH;
      case Answer.Failed failed -> Result.ERROR;
      case Judged judged -> judged.fits() == 0 ? Result.NO_FIT : Result.FIT;
    };
  }

  /** POST /scheduler/prioritize. */
  Future<Reply> prioritize(byte[] body) {
    return scored(Verb.PRIORITIZE, body);
  }

  /** POST /scheduler/steer: for pods that ask for no card. */
  Future<Reply> steer(byte[] body) {
    return scored(Verb.STEER, body);
  }

  private Future<Reply> scored(Verb verb, byte[] body) {
    Done unsynced = new Done(Reply.text(503, NOT_SYNCED + "\n"), Result.ERROR);
    return clock.timed(
        verb,
        () ->
            readiness
                .await()
                .compose(
                    ready ->
                        ready
                            ? readers.read(() -> scoreNow(verb, body)).compose(this::held)
                            : Future.succeededFuture(unsynced)),
        text -> Reply.text(503, text + "\n"));
  }

  private Done scoreNow(Verb verb, byte[] body) {
    ExtenderArgs args;
    try {
      args = json.args(body);
    } catch (FormatException e) {
      return new Done(Reply.text(400, e.getMessage() + "\n"), Result.ERROR);
    }
    PodRecord pod = args.pod();
    if (pod == null) {
      return new Done(Reply.text(400, "extenderArgs.Pod cannot be empty\n"), Result.ERROR);
    }
    PrioritizeVerb.Scores scores;
    if (verb == Verb.STEER) {
      scores = prioritize.steer(pod.request(), args, state.snapshot());
    } else {
      scores = prioritize.run(pod.request(), args, state.snapshot());
      pending.ranked(pod.request(), scores.why());
      decisions.ranked(pod.request(), scores.why(), scores.best());
    }
    return new Done(Reply.json(ExtenderAnswers.scores(scores)), Result.SUCCESS, scores.hold());
  }

  /**
   * kube-scheduler asks about the next pod as soon as this answer is out: the hold comes first. It
   * is a courtesy, so a lane without room costs the hold and not the answer.
   */
  private Future<Done> held(Done done) {
    return done.hold()
        .map(
            hold ->
                lane.call(
                        () -> {
                          state.hold(hold.podUid(), hold.node(), hold.footprint());
                          state.publish();
                          return done;
                        })
                    .otherwise(done))
        .orElseGet(() -> Future.succeededFuture(done));
  }

  /** POST /scheduler/bind. */
  Future<Reply> bind(byte[] body) {
    Done unsynced = new Done(Reply.json(ExtenderAnswers.bind(NOT_SYNCED)), Result.BIND_FAILED);
    return clock.timed(
        Verb.BIND,
        () ->
            readiness
                .await()
                .compose(ready -> ready ? bindNow(body) : Future.succeededFuture(unsynced)),
        text -> Reply.json(ExtenderAnswers.bind(text)));
  }

  private Future<Done> bindNow(byte[] body) {
    BindArgs args;
    try {
      args = json.bindArgs(body);
    } catch (FormatException e) {
      return Future.succeededFuture(
          new Done(
              Reply.json(ExtenderAnswers.bind(String.valueOf(e.getMessage()))),
              Result.BIND_FAILED));
    }
    return binder
        .bind(args)
        .map(r -> new Done(Reply.json(ExtenderAnswers.bind(r.error())), r.result()));
  }
}
