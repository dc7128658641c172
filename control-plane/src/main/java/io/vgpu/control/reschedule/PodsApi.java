package io.vgpu.control.reschedule;

import io.vgpu.model.PodRef;
import java.util.List;
import java.util.Optional;

/**
 * What the rescheduler asks of the API server. Calls block, each bounded in time; an answer that
 * says nothing about what happened (lost connection, time-out, server error) is thrown as {@link
 * ApiFault}, and then the call may have had its effect or not.
 */
public interface PodsApi {
  /** The pod under this name now. */
  Optional<LivePod> get(String namespace, String name);

  /** Removes exactly this state of the pod: under its UID and resourceVersion. */
  Removal delete(PodRef pod, String resourceVersion);

  /** Removes the pod through the Eviction API, under its UID; disruption budgets are honoured. */
  Removal evict(PodRef pod);

  /** Makes the copy. */
  Creation create(StoredCopy copy);

  /** Keeps the copy, in place of an older one of the same pod. */
  void store(StoredCopy copy);

  /** The copies that are kept of pods of this name. */
  List<StoredCopy> storedFor(String namespace, String name);

  /** Lets go of the copy, if it is there. */
  void forget(PodRef original);

  /** Every copy that is kept. */
  List<StoredCopy> stored();

  /** What became of a removal. */
  enum Removal {
    /** On its way, or gone. */
    ACCEPTED,
    /** There is no such pod, or it is in another state by now: look again. */
    CHANGED,
    /** A disruption budget forbids it now. */
    REFUSED_NOW
  }

  /** What became of a creation. */
  sealed interface Creation {
    /** It is there. */
    record Made(PodRef replacement) implements Creation {}

    /** A pod of this name is there: look again. */
    record NameTaken() implements Creation {}

    /** The namespace is gone or going: there is nothing to make it in. */
    record NoNamespace() implements Creation {}

    /** Refused: quota, admission, validation; {@code why} is the API server's text. */
    record Refused(String why) implements Creation {}
  }

  /** No answer that says what happened. */
  final class ApiFault extends RuntimeException {
    public ApiFault(String message, Throwable cause) {
      super(message, cause);
    }

    public ApiFault(String message) {
      super(message);
    }
  }
}
