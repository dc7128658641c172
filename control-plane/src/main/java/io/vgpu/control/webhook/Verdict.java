package io.vgpu.control.webhook;

import java.util.List;

/** What an admission function says about a request. */
public sealed interface Verdict {
  Verdict UNTOUCHED = new Allowed(List.of());

  /** Admitted, with these changes in this order. */
  record Allowed(List<PatchOp> patch) implements Verdict {
    public Allowed {
      patch = List.copyOf(patch);
    }
  }

  /** Refused; {@code message} is for the user, {@code code} and {@code reason} as in a Status. */
  record Denied(int code, String reason, String message) implements Verdict {
    static Denied invalid(String message) {
      return new Denied(422, "Invalid", message);
    }

    static Denied forbidden(String message) {
      return new Denied(403, "Forbidden", message);
    }
  }
}
