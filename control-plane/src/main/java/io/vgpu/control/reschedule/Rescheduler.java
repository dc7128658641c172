package io.vgpu.control.reschedule;

import io.vgpu.control.reschedule.PodsApi.ApiFault;
import io.vgpu.control.reschedule.PodsApi.Creation;
import io.vgpu.control.reschedule.PodsApi.Removal;
import io.vgpu.control.reschedule.RescheduleReconciler.Action;
import io.vgpu.model.PodRef;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Carries out what {@link RescheduleReconciler} says, one call to the API after the other, so that
 * a crash at any point loses nothing and doubles nothing: the copy of a pod is kept in the API from
 * before the removal until after the making, and every step is found anew from what is there.
 *
 * <p>{@link #offer} on any thread; all else on one thread, which these calls block.
 */
public final class Rescheduler {
  private static final Logger log = LoggerFactory.getLogger(Rescheduler.class);

  /** Between replacements of one name, and evictions of one owner's pods, that fail again. */
  private static final BackOff AGAIN = new BackOff(Duration.ofSeconds(1), Duration.ofMinutes(5));

  /** While a pod is on its way out. */
  private static final BackOff LOOK = new BackOff(Duration.ofMillis(200), Duration.ofSeconds(5));

  /** After a fault of the API or a refusal. */
  private static final BackOff RETRY = new BackOff(Duration.ofMillis(200), Duration.ofSeconds(30));

  /** After which a promise that cannot be kept is given up, with an event. */
  static final Duration GIVEN_UP = Duration.ofHours(24);

  /** Calls for one pod without a pause between; more means that something works against us. */
  private static final int STEPS_AT_ONCE = 12;

  private static final int TELL_EVERY = 20;
  private static final int REMEMBERED = 10_000;

  private final PodsApi api;
  private final RescheduleReconciler reconciler;
  private final RescheduleNews news;
  private final Clock clock;

  // both bounded by the failed pods that the API holds
  private final Map<String, FailedPod> inbox = new ConcurrentHashMap<>();
  private final Map<String, Task> tasks = new HashMap<>();

  private final Map<String, Evictions> evictionsOfOwner = bounded();
  private final Map<String, Boolean> told = bounded();

  /** Pods that are out of the way: the watch may speak of them for a while. */
  private final Map<String, Boolean> ended = bounded();

  private volatile boolean recovered;
  private volatile int pending;

  private record Evictions(int number, Instant last) {}

  private static final class Task {
    final PodRef pod;
    Optional<StoredCopy> stored;
    // asked for without an answer: kept or not
    Optional<StoredCopy> unconfirmed = Optional.empty();
    // decided: nothing but letting go of the copy is left, and then this is told
    Optional<Runnable> closing = Optional.empty();
    Instant due;
    int waits;
    String why = "";

    Task(PodRef pod, Optional<StoredCopy> stored, Instant due) {
      this.pod = pod;
      this.stored = stored;
      this.due = due;
    }
  }

  public Rescheduler(
      PodsApi api, RescheduleReconciler reconciler, RescheduleNews news, Clock clock) {
    this.api = api;
    this.reconciler = reconciler;
    this.news = news;
    this.clock = clock;
  }

  private static <V> Map<String, V> bounded() {
    return new LinkedHashMap<>() {
      @Override
      protected boolean removeEldestEntry(Map.Entry<String, V> eldest) {
        return size() > REMEMBERED;
      }
    };
  }

  /** Hears of a pod; the newest word counts. Any thread. */
  public void offer(FailedPod pod) {
    if (pod.mustGo() && !pod.deleting()) {
      inbox.put(pod.ref().uid(), pod);
    }
  }

  /** Whether the promises of earlier lives are known. Any thread. */
  public boolean recovered() {
    return recovered;
  }

  /** Pods that were being dealt with when the last work ended. Any thread. */
  public int pending() {
    return pending;
  }

  /** Does all that is due; returns when there is more to do, empty when only news bring work. */
  public Optional<Duration> work() {
    if (!recovered && !recover()) {
      return Optional.of(RETRY.longest());
    }
    acceptNews();
    List<Task> due =
        tasks.values().stream()
            .filter(t -> !t.due.isAfter(clock.instant()))
            .sorted(Comparator.comparing(t -> t.due))
            .toList();
    due.forEach(this::run);
    acceptNews();
    pending = tasks.size();
    return tasks.values().stream()
        .map(t -> t.due)
        .min(Comparator.naturalOrder())
        .map(next -> Duration.between(clock.instant(), next))
        .map(wait -> wait.isNegative() ? Duration.ZERO : wait);
  }

  /**
   * What is heard of a pod while it is being dealt with waits until that has ended: it may be why
   * there is more to do.
   */
  private void acceptNews() {
    for (String uid : List.copyOf(inbox.keySet())) {
      if (!tasks.containsKey(uid)) {
        FailedPod pod = inbox.remove(uid);
        if (pod != null && !ended.containsKey(uid)) {
          accept(pod);
        }
      }
    }
  }

  private boolean recover() {
    try {
      for (StoredCopy copy : api.stored()) {
        tasks.put(
            copy.original().uid(), new Task(copy.original(), Optional.of(copy), clock.instant()));
      }
      recovered = true;
      return true;
    } catch (ApiFault e) {
      log.warn("kept copies not read, tried again [cause: {}]", e.getMessage());
      return false;
    }
  }

  private void accept(FailedPod pod) {
    switch (reconciler.decide(pod)) {
      case Action.Ignore _, Action.LeaveToOwner _ -> {}
      case Action.Skip skip -> {
        if (told.put(pod.ref().uid(), true) == null) {
          news.skipped(pod, skip.why());
        }
      }
      case Action.Evict evict ->
          // cards that are left one after the other are no sign that an owner's pods fail
          begin(pod, pod.allocationFailed() ? pauseOf(evict.owner().uid()) : Duration.ZERO);
      case Action.Replace _ -> {
        begin(pod, AGAIN.before(pod.replacementsInARow(clock.instant())));
      }
    }
  }

  private void begin(FailedPod pod, Duration pause) {
    if (!pause.isZero()) {
      news.backingOff(pod, pause);
    }
    Task task = new Task(pod.ref(), Optional.empty(), clock.instant().plus(pause));
    task.why = pod.why();
    tasks.put(pod.ref().uid(), task);
  }

  private Duration pauseOf(String owner) {
    Evictions before = evictionsOfOwner.get(owner);
    if (before == null
        || Duration.between(before.last(), clock.instant()).compareTo(FailedPod.FORGIVEN) > 0) {
      return Duration.ZERO;
    }
    return AGAIN.before(before.number());
  }

  private void run(Task task) {
    try {
      for (int step = 0; step < STEPS_AT_ONCE; step++) {
        switch (advance(task)) {
          case GO_ON -> {}
          case LOOK_AGAIN -> {
            later(task, LOOK);
            return;
          }
          case RETRY -> {
            later(task, RETRY);
            return;
          }
          case DONE -> {
            tasks.remove(task.pod.uid());
            return;
          }
        }
      }
      later(task, RETRY);
    } catch (ApiFault e) {
      log.warn(
          "rescheduling interrupted, tried again [pod: {}, cause: {}]", task.pod, e.getMessage());
      later(task, RETRY);
    }
  }

  private void later(Task task, BackOff pauses) {
    task.waits++;
    task.due = clock.instant().plus(pauses.before(task.waits));
  }

  private enum Progress {
    GO_ON,
    LOOK_AGAIN,
    RETRY,
    DONE
  }

  private Progress advance(Task task) {
    if (task.closing.isPresent()) {
      return close(task, task.closing.get());
    }
    if (task.unconfirmed.isPresent()) {
      // only what is really kept is a promise: another controller may have acted on it already
      boolean kept =
          api.storedFor(task.pod.namespace(), task.pod.name()).stream()
              .anyMatch(copy -> copy.original().equals(task.pod));
      task.stored = kept ? task.unconfirmed : task.stored;
      task.unconfirmed = Optional.empty();
    }
    Optional<LivePod> live = api.get(task.pod.namespace(), task.pod.name());
    if (task.stored.isEmpty()
        && live.isPresent()
        && live.get().pod().ref().equals(task.pod)
        && reconciler.decide(live.get().pod()) instanceof Action.Evict evict) {
      return evict(task, evict, live.get().pod());
    }
    return switch (reconciler.next(task.pod, task.stored, live)) {
      case STORE -> store(task, live);
      case REMOVE -> remove(task, live);
      case AWAIT -> unlessOld(task, "it does not go away", Progress.LOOK_AGAIN);
      case CREATE -> create(task);
      case FINISH -> {
        PodRef replacement = live.orElseThrow().pod().ref();
        yield end(task, () -> news.replaced(task.pod, replacement, task.why));
      }
      case YIELD -> {
        PodRef namesake = live.orElseThrow().pod().ref();
        yield end(task, () -> news.nameTaken(task.pod, namesake));
      }
      case ABANDON -> close(task, () -> {});
    };
  }

  private Progress evict(Task task, Action.Evict evict, FailedPod pod) {
    return switch (api.evict(task.pod)) {
      case ACCEPTED -> {
        if (pod.allocationFailed()) {
          count(evict.owner().uid());
        }
        ended.put(task.pod.uid(), true);
        news.evicted(task.pod, evict.owner(), task.why);
        yield Progress.DONE;
      }
      case CHANGED -> Progress.GO_ON;
      case REFUSED_NOW -> refused(task);
    };
  }

  private void count(String owner) {
    Evictions before = evictionsOfOwner.get(owner);
    int number = before == null || pauseOf(owner).isZero() ? 1 : before.number() + 1;
    evictionsOfOwner.put(owner, new Evictions(number, clock.instant()));
  }

  /** Told at first and then about every ten minutes: whoever waits for it may come later. */
  private Progress refused(Task task) {
    if (task.waits % TELL_EVERY == 0) {
      news.evictionRefused(task.pod, task.why);
    }
    return Progress.RETRY;
  }

  private Progress store(Task task, Optional<LivePod> live) {
    LivePod pod = live.orElseThrow();
    StoredCopy copy =
        new StoredCopy(
            task.pod,
            pod.resourceVersion(),
            pod.copy(),
            task.stored.map(StoredCopy::since).orElseGet(clock::instant));
    task.unconfirmed = Optional.of(copy);
    api.store(copy);
    task.unconfirmed = Optional.empty();
    task.stored = Optional.of(copy);
    return Progress.GO_ON;
  }

  private Progress remove(Task task, Optional<LivePod> live) {
    boolean running = live.orElseThrow().pod().phase() == FailedPod.Phase.RUNNING;
    StoredCopy copy = task.stored.orElseThrow();
    // a budget counts pods that run; one that never got its devices disturbs nobody
    Removal removal = running ? api.evict(task.pod) : api.delete(task.pod, copy.resourceVersion());
    return switch (removal) {
      case ACCEPTED, CHANGED -> Progress.GO_ON;
      case REFUSED_NOW -> refused(task);
    };
  }

  private Progress create(Task task) {
    // asked of the API, not of memory: in the seconds in which two controllers act, the other one
    // may have kept the promise, or made one for a pod that bears the name since
    StoredCopy own = task.stored.orElseThrow();
    List<StoredCopy> ofName = api.storedFor(task.pod.namespace(), task.pod.name());
    if (ofName.stream().noneMatch(copy -> copy.original().equals(task.pod))) {
      return Progress.DONE;
    }
    Optional<PodRef> newer =
        ofName.stream()
            .filter(copy -> copy.since().isAfter(own.since()))
            .map(StoredCopy::original)
            .filter(original -> !original.equals(task.pod))
            .findFirst();
    if (newer.isPresent()) {
      return end(task, () -> news.nameTaken(task.pod, newer.get()));
    }
    return switch (api.create(own)) {
      case Creation.Made made ->
          end(task, () -> news.replaced(task.pod, made.replacement(), task.why));
      case Creation.NameTaken _ -> Progress.GO_ON; // by our own lost answer, or by somebody else
      case Creation.NoNamespace _ ->
          end(task, () -> log.info("not replaced: its namespace is gone [pod: {}]", task.pod));
      case Creation.Refused refused -> {
        if (task.waits == 0) {
          news.notMadeYet(task.pod, refused.why());
        }
        yield unlessOld(task, refused.why(), Progress.RETRY);
      }
    };
  }

  /** Goes on as said, or gives the promise up when it is a day old. */
  private Progress unlessOld(Task task, String why, Progress progress) {
    Instant since = task.stored.orElseThrow().since();
    return Duration.between(since, clock.instant()).compareTo(GIVEN_UP) <= 0
        ? progress
        : end(task, () -> news.givenUp(task.pod, why));
  }

  /** The pod is out of the way for good. */
  private Progress end(Task task, Runnable tell) {
    return close(
        task,
        () -> {
          ended.put(task.pod.uid(), true);
          tell.run();
        });
  }

  private Progress close(Task task, Runnable tell) {
    // when the answer to this is lost, nothing else may be done for this pod any more: the copy may
    // be gone, and with it the only thing that says whether the replacement was ever made
    task.closing = Optional.of(tell);
    if (task.stored.isPresent()) {
      api.forget(task.pod);
    }
    tell.run();
    return Progress.DONE;
  }
}
