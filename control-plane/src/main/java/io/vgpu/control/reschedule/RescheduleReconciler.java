package io.vgpu.control.reschedule;

import io.vgpu.control.reschedule.FailedPod.Owner;
import io.vgpu.control.reschedule.FailedPod.Phase;
import io.vgpu.model.PodRef;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * What is to be done about a pod whose allocation failed, or which must leave a card (D4, D17,
 * node-agent.md 6). Pure: looks at what is, remembers nothing, so that every answer is the same
 * after a crash at any point.
 */
public class RescheduleReconciler {
  /**
   * Controllers that see a Failed pod themselves and make another one. A Job counts it first
   * (backoffLimit); a ReplicaSet leaves it to be read until Kubernetes collects it.
   */
  private static final Map<String, Set<String>> REPLACING_OWNERS =
      Map.of(
          "", Set.of("ReplicationController"),
          "apps", Set.of("ReplicaSet", "StatefulSet", "DaemonSet"),
          "batch", Set.of("Job"));

  /** What to do about a pod. */
  public sealed interface Action {
    /** Nothing: it is not ours, not failed, or on its way out. */
    record Ignore() implements Action {}

    /** Nothing: its controller makes another one by itself. */
    record LeaveToOwner() implements Action {}

    /** Nothing, although it failed; {@code why} is for people. */
    record Skip(String why) implements Action {}

    /** Out of the way through the Eviction API; its controller makes another one. */
    record Evict(Owner owner) implements Action {}

    /** Nobody else makes it again: we do, once. */
    record Replace() implements Action {}
  }

  /** The next step of a replacement. */
  public enum Step {
    /** Keep a copy of what is there. */
    STORE,
    /** Remove the pod in the state that was copied. */
    REMOVE,
    /** It is going; look again later. */
    AWAIT,
    /** Make the copy. */
    CREATE,
    /** The replacement is there: let go of the copy. */
    FINISH,
    /** Another pod took the name: let go of the copy, and say so. */
    YIELD,
    /** It needs no replacement (any more): let go of the copy, if there is one. */
    ABANDON
  }

  /** The rule. */
  public Action decide(FailedPod pod) {
    if (pod.deleting() || !pod.mustGo()) {
      return new Action.Ignore();
    }
    if (pod.fixed().isPresent()) {
      return new Action.Skip(pod.fixed().get() + " pods are not moved");
    }
    if (pod.owner().isEmpty()) {
      return new Action.Replace();
    }
    Owner owner = pod.owner().get();
    if (!pod.allocationFailed()
        && owner.group().equals("apps")
        && owner.kind().equals("DaemonSet")) {
      return new Action.Skip("pods of a DaemonSet are not moved: it would make the next one here");
    }
    boolean replacedByOwner =
        pod.phase() == Phase.FAILED
            && REPLACING_OWNERS.getOrDefault(owner.group(), Set.of()).contains(owner.kind());
    return replacedByOwner ? new Action.LeaveToOwner() : new Action.Evict(owner);
  }

  /**
   * The next step towards the replacement of {@code original}, from what is kept and what is there.
   */
  public Step next(PodRef original, Optional<StoredCopy> stored, Optional<LivePod> live) {
    boolean originalIsThere =
        live.filter(l -> l.pod().ref().uid().equals(original.uid())).isPresent();
    if (originalIsThere) {
      return ofOriginal(stored, live.get());
    }
    if (stored.isEmpty()) {
      return Step.ABANDON; // never promised: whoever removed it had his reasons
    }
    if (live.isEmpty()) {
      return Step.CREATE;
    }
    return live.get().replaces().equals(Optional.of(original.uid())) ? Step.FINISH : Step.YIELD;
  }

  private Step ofOriginal(Optional<StoredCopy> stored, LivePod live) {
    if (live.pod().deleting()) {
      // without a promise it was not us
      return stored.isPresent() ? Step.AWAIT : Step.ABANDON;
    }
    if (!(decide(live.pod()) instanceof Action.Replace)) {
      return Step.ABANDON;
    }
    boolean sameState =
        stored.filter(s -> s.resourceVersion().equals(live.resourceVersion())).isPresent();
    return sameState ? Step.REMOVE : Step.STORE;
  }
}
