package io.vgpu.agent.deviceplugin;

import io.vgpu.model.PodRef;
import io.vgpu.model.Reason;
import java.util.Optional;

/** What a step of an admission came to: a value, or a refusal with its reason. */
sealed interface Outcome<T> {
  /** It went well. */
  record Given<T>(T value) implements Outcome<T> {}

  /** It was refused; {@code pod} is known when it is sure whom the kubelet asked for. */
  record Refused<T>(Reason reason, String detail, Optional<PodRef> pod) implements Outcome<T> {
    /** The same refusal of another kind of value. */
    <U> Refused<U> as() {
      return new Refused<>(reason, detail, pod);
    }

    /** The words for the kubelet and for people, after the name of the check. */
    String text() {
      return reason.phrase() + ": " + detail;
    }
  }

  static <T> Outcome<T> given(T value) {
    return new Given<>(value);
  }

  static <T> Outcome<T> refused(PodRef pod, Reason reason, String detail) {
    return new Refused<>(reason, detail, Optional.of(pod));
  }

  static <T> Outcome<T> refused(Reason reason, String detail) {
    return new Refused<>(reason, detail, Optional.empty());
  }
}
