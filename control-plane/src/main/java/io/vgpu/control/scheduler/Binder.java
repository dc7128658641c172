package io.vgpu.control.scheduler;

import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vgpu.claim.ClaimCodec;
import io.vgpu.claim.ClaimSeal;
import io.vgpu.claim.Names;
import io.vgpu.control.cluster.PodRecord;
import io.vgpu.control.cluster.PodRequest;
import io.vgpu.control.cluster.Reservation;
import io.vgpu.control.kube.BindingApi;
import io.vgpu.control.kube.BindingApi.Found;
import io.vgpu.control.kube.BindingApi.Posted;
import io.vgpu.control.kube.SlimRecords;
import io.vgpu.control.metrics.ControlMeters;
import io.vgpu.control.metrics.SchedulerMeters;
import io.vgpu.control.metrics.SchedulerMeters.Result;
import io.vgpu.control.metrics.SchedulerMeters.Stage;
import io.vgpu.control.metrics.SchedulerMeters.Verb;
import io.vgpu.control.scheduler.CommitDesk.Step;
import io.vgpu.control.scheduler.PodLookup.Answer.Subject;
import io.vgpu.model.DemandCheck;
import io.vgpu.runtime.Lane;
import io.vgpu.runtime.LaneFullException;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The one commit (D1, control-plane.md 4.1): plan again on the chosen node, reserve, one Binding
 * that carries the sealed allocation; a pod that changed meanwhile is read and planned once more.
 *
 * <p>Each bind is straight code on a virtual thread of its own, at most {@value #MOST} at a time;
 * what must be serial happens at the {@link CommitDesk}, on the lane. The future never fails.
 */
final class Binder implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(Binder.class);
  private static final int MOST = 256;
  private static final int CONFLICT = 409;
  private static final int NOT_FOUND = 404;
  private static final Duration LAST_BINDS = Duration.ofSeconds(3);

  /** The API server bounds the annotations of an object to this. */
  static final int MAX_ANNOTATION_BYTES = 256 * 1024;

  private final Names names;
  private final Lane lane;
  private final CommitDesk desk;
  private final BindingApi api;
  private final DeafnessCheck deafness;
  private final Supplier<ClaimSeal> seal;
  private final PendingPods pending;
  private final PodLookup lookup;
  private final PlacementNews news;
  private final SchedulerMeters meters;
  private final Clock clock;
  private final LongSupplier nanoTime;
  private final Semaphore places = new Semaphore(MOST);
  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();

  Binder(
      Names names,
      Lane lane,
      CommitDesk desk,
      BindingApi api,
      DeafnessCheck deafness,
      Supplier<ClaimSeal> seal,
      PendingPods pending,
      Function<String, Optional<PodRecord>> watched,
      PlacementNews news,
      SchedulerMeters meters,
      Clock clock,
      LongSupplier nanoTime) {
    this.names = names;
    this.lane = lane;
    this.desk = desk;
    this.api = api;
    this.deafness = deafness;
    this.seal = seal;
    this.pending = pending;
    this.lookup = new PodLookup(pending, uid -> onLane(() -> watched.apply(uid)), api);
    this.news = news;
    this.meters = meters;
    this.clock = clock;
    this.nanoTime = nanoTime;
  }

  /** Binds; the answer tells of success or why not. */
  Future<BindResult> bind(BindArgs args) {
    if (args.node().isEmpty()) {
      return Future.succeededFuture(new BindResult(Result.NO_NODE, BindTexts.NO_NODE));
    }
    if (args.podName().isEmpty() || args.podNamespace().isEmpty() || args.podUid().isEmpty()) {
      return Future.succeededFuture(new BindResult(Result.POD_NOT_FOUND, BindTexts.NO_POD));
    }
    if (!places.tryAcquire()) {
      return Future.succeededFuture(
          new BindResult(Result.BIND_FAILED, "more than " + MOST + " binds are under way"));
    }
    Promise<BindResult> answer = Promise.promise();
    CompletableFuture<BindResult> _ =
        CompletableFuture.supplyAsync(() -> run(args), threads)
            .whenComplete(
                (result, fault) -> {
                  places.release();
                  answer.complete(fault == null ? result : broken(args, fault));
                });
    return answer.future();
  }

  /** A full lane, or a fault of ours: an answer all the same, so that the pod is tried again. */
  private static BindResult broken(BindArgs args, Throwable fault) {
    Throwable cause = fault;
    while (cause.getCause() != null) {
      cause = cause.getCause();
    }
    if (!(cause instanceof LaneFullException)) {
      log.error("bind broke off [pod: {}/{}]", args.podNamespace(), args.podName(), fault);
    }
    return new BindResult(Result.BIND_FAILED, "bind broke off: " + cause);
  }

  private BindResult run(BindArgs args) {
    return switch (lookup.find(args)) {
      case PodLookup.Answer.None none -> none.why();
      case Subject subject -> bind(subject, args.node());
    };
  }

  private BindResult bind(Subject subject, String node) {
    PodRequest pod = subject.request();
    Optional<String> breach = breach(pod);
    BindResult result =
        breach.isPresent()
            ? new BindResult(Result.BIND_FAILED, breach.get())
            : pod.demand().asksForVgpu() ? commit(subject, node, true) : bindPlain(pod, node);
    if (result.result() == Result.SUCCESS) {
      pending.forget(pod.pod().uid());
    } else {
      news.failed(pod, node, result.error());
    }
    return result;
  }

  private static Optional<String> breach(PodRequest pod) {
    return pod.demand().containers().stream().anyMatch(SlimRecords::asks)
        ? DemandCheck.firstBreach(pod.demand())
        : Optional.empty();
  }

  // ---- the commit

  private BindResult commit(Subject subject, String node, boolean again) {
    PodRequest pod = subject.request();
    Optional<String> blind = deafness.refusal(node);
    if (blind.isPresent()) {
      return new BindResult(Result.BIND_FAILED, blind.get());
    }
    long started = nanoTime.getAsLong();
    Step step = onLane(() -> desk.plan(pod, node));
    meters.stage(Verb.BIND, Stage.PLAN, since(started));
    return switch (step) {
      case Step.Bound bound -> new BindResult(Result.BIND_FAILED, BindTexts.bound(bound.node()));
      case Step.Busy busy -> new BindResult(Result.BIND_FAILED, BindTexts.BUSY);
      case Step.NoFit no -> {
        meters.reject(Verb.BIND, no.refused().reason());
        yield new BindResult(Result.BIND_FAILED, no.refused().detailed());
      }
      case Step.Post post -> post(subject, post, again);
    };
  }

  private BindResult post(Subject subject, Step.Post step, boolean again) {
    PodRequest pod = subject.request();
    Reservation r = step.reservation();
    Map<String, String> annotations = annotations(pod, r);
    long bytes = pod.annotationBytes() + bytes(annotations);
    if (bytes > MAX_ANNOTATION_BYTES) {
      onLane(() -> desk.release(r));
      return new BindResult(Result.BIND_FAILED, BindTexts.tooLarge(bytes, MAX_ANNOTATION_BYTES));
    }
    return switch (postTimed(pod, r.node(), annotations)) {
      case Posted.Done done -> succeeded(subject, step);
      case Posted.Refused refused when refused.code() == CONFLICT ->
          afterConflict(subject, step, refused.message(), again);
      case Posted.Refused refused -> {
        onLane(() -> desk.release(r));
        yield refused.code() == NOT_FOUND
            ? new BindResult(Result.POD_NOT_FOUND, BindTexts.notFound(pod.pod().name()))
            : new BindResult(Result.BIND_FAILED, refused.message());
      }
      case Posted.Unknown unknown -> afterSilence(subject, step, unknown.cause());
    };
  }

  private Posted postTimed(PodRequest pod, String node, Map<String, String> annotations) {
    long started = nanoTime.getAsLong();
    Posted posted =
        api.post(new BindingApi.Binding(pod.pod(), pod.resourceVersion(), node, annotations));
    meters.stage(Verb.BIND, Stage.API, since(started));
    return posted;
  }

  private Map<String, String> annotations(PodRequest pod, Reservation r) {
    Instant now = clock.instant();
    Map<String, String> annotations = new LinkedHashMap<>();
    annotations.put(names.preAllocated(), ClaimCodec.encode(r.claim()));
    annotations.put(names.claimHmac(), seal.get().seal(pod.pod().uid(), r.claim()));
    annotations.put(names.predicateNode(), r.node());
    annotations.put(
        names.predicateTime(),
        Long.toString(now.getEpochSecond() * 1_000_000_000L + now.getNano()));
    return annotations;
  }

  private static long bytes(Map<String, String> annotations) {
    return annotations.entrySet().stream()
        .mapToLong(
            e -> e.getKey().length() + (long) e.getValue().getBytes(StandardCharsets.UTF_8).length)
        .sum();
  }

  private BindResult succeeded(Subject subject, Step.Post step) {
    Reservation r = step.reservation();
    onLane(() -> desk.done(r));
    meters.placed(subject.request().wishes());
    step.plan()
        .ifPresent(
            p ->
                meters.topology(
                    subject.request().wishes(), p.closeness().word(), p.window().word()));
    news.placed(subject.request(), r.node(), r.claim(), step.plan(), subject.ranking());
    return BindResult.success();
  }

  /**
   * 409: another UID, a changed or bound pod, or one that is going. The request itself wrote
   * nothing, but it may be the echo of one that did.
   */
  private BindResult afterConflict(Subject subject, Step.Post step, String message, boolean again) {
    Reservation r = step.reservation();
    return switch (api.read(r.pod().namespace(), r.pod().name())) {
      case Found.Unreadable no -> {
        onLane(() -> desk.uncertain(r));
        yield new BindResult(Result.CONFLICT, message);
      }
      case Found.Absent absent -> {
        onLane(() -> desk.release(r));
        yield new BindResult(Result.POD_NOT_FOUND, BindTexts.notFound(r.pod().name()));
      }
      case Found.Present present -> {
        if (ReservationSweep.isOurs(present.pod(), r)) {
          yield succeeded(subject, step);
        }
        onLane(() -> desk.release(r));
        yield whyNot(present.pod(), r)
            .orElseGet(() -> planAgain(subject, present.pod(), r.node(), message, again));
      }
    };
  }

  private BindResult planAgain(
      Subject subject, PodRecord now, String node, String message, boolean again) {
    if (!again) {
      return new BindResult(Result.CONFLICT, message);
    }
    meters.count(ControlMeters.BIND_CONFLICT);
    return breach(now.request())
        .map(b -> new BindResult(Result.BIND_FAILED, b))
        .orElseGet(() -> commit(new Subject(now.request(), subject.ranking()), node, false));
  }

  /** No answer: the reservation stays until the API has been read and nothing can follow. */
  private BindResult afterSilence(Subject subject, Step.Post step, String cause) {
    meters.count(ControlMeters.BIND_UNKNOWN);
    Reservation r = step.reservation();
    onLane(() -> desk.uncertain(r));
    BindResult unknown = new BindResult(Result.BIND_FAILED, BindTexts.unknown(cause));
    return switch (api.read(r.pod().namespace(), r.pod().name())) {
      case Found.Unreadable no -> unknown;
      case Found.Absent absent -> {
        onLane(() -> desk.release(r));
        yield new BindResult(Result.POD_NOT_FOUND, BindTexts.notFound(r.pod().name()));
      }
      case Found.Present present -> {
        if (ReservationSweep.isOurs(present.pod(), r)) {
          yield succeeded(subject, step);
        }
        Optional<BindResult> lost = whyNot(present.pod(), r);
        if (lost.isPresent()) {
          onLane(() -> desk.release(r));
        }
        yield lost.orElse(unknown);
      }
    };
  }

  /** Why the pod, as it is now, cannot be bound by this reservation any more. */
  private static Optional<BindResult> whyNot(PodRecord pod, Reservation r) {
    if (!pod.uid().equals(r.pod().uid())) {
      return Optional.of(new BindResult(Result.UID_MISMATCH, BindTexts.otherUid(r.pod().uid())));
    }
    String node = pod.nodeName();
    if (node != null) {
      return Optional.of(new BindResult(Result.BIND_FAILED, BindTexts.bound(node)));
    }
    return pod.deleting()
        ? Optional.of(new BindResult(Result.BIND_FAILED, BindTexts.DELETING))
        : Optional.empty();
  }

  /** A pod that asks for no vGPU: nothing to plan, nothing to carry. */
  private BindResult bindPlain(PodRequest pod, String node) {
    return switch (postTimed(pod, node, Map.of())) {
      case Posted.Done done -> {
        news.boundWithout(pod, node);
        yield BindResult.success();
      }
      case Posted.Refused refused when refused.code() == NOT_FOUND ->
          new BindResult(Result.POD_NOT_FOUND, BindTexts.notFound(pod.pod().name()));
      case Posted.Refused refused ->
          new BindResult(
              refused.code() == CONFLICT ? Result.CONFLICT : Result.BIND_FAILED, refused.message());
      case Posted.Unknown unknown ->
          new BindResult(Result.BIND_FAILED, BindTexts.unknown(unknown.cause()));
    };
  }

  // ---- the lane

  private <T> T onLane(Callable<T> work) {
    return lane.call(work).toCompletionStage().toCompletableFuture().join();
  }

  private Duration since(long started) {
    return Duration.ofNanos(nanoTime.getAsLong() - started);
  }

  /** Lets the binds under way end, within {@code LAST_BINDS}; new ones are refused. */
  @Override
  public void close() {
    threads.shutdown();
    try {
      if (!threads.awaitTermination(LAST_BINDS.toMillis(), TimeUnit.MILLISECONDS)) {
        threads.shutdownNow();
      }
    } catch (InterruptedException e) {
      threads.shutdownNow();
      Thread.currentThread().interrupt();
    }
  }
}
