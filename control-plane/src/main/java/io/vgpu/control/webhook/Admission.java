package io.vgpu.control.webhook;

import io.vgpu.claim.FormatException;
import java.nio.charset.StandardCharsets;
import java.util.function.Function;
import tools.jackson.databind.node.ObjectNode;

/**
 * Path and body in, status and body out: all that the webhook does, without a server. Pure, any
 * thread. A body that is no AdmissionReview gets 400 with the reason; a pod of wrong form is denied
 * with the field's name.
 */
public final class Admission {
  public static final String MUTATE = "/pods/mutate";
  public static final String VALIDATE = "/pods/validate";

  private final PodMutator mutator;
  private final PodValidator validator;

  public Admission(PodMutator mutator, PodValidator validator) {
    this.mutator = mutator;
    this.validator = validator;
  }

  /** An HTTP answer; {@code outcome} is its word in metrics. */
  public record Reply(int status, String contentType, byte[] body, String outcome) {
    static Reply text(int status, String text, String outcome) {
      return new Reply(
          status,
          "text/plain; charset=utf-8",
          (text + "\n").getBytes(StandardCharsets.UTF_8),
          outcome);
    }
  }

  /** Whether there is anything under this path. */
  public static boolean serves(String path) {
    return path.equals(MUTATE) || path.equals(VALIDATE);
  }

  /** Answers one review. */
  public Reply answer(String path, byte[] body) {
    return switch (path) {
      case MUTATE -> review(body, this::mutate);
      case VALIDATE -> review(body, validator::validate);
      default -> Reply.text(404, "here are " + MUTATE + " and " + VALIDATE, "unknown");
    };
  }

  private Verdict mutate(AdmissionRequest request) {
    return request.creates("pods") && request.object() instanceof ObjectNode pod
        ? new Verdict.Allowed(mutator.mutate(pod))
        : Verdict.UNTOUCHED;
  }

  private static Reply review(byte[] body, Function<AdmissionRequest, Verdict> rule) {
    AdmissionRequest request;
    try {
      request = AdmissionReviews.parse(body);
    } catch (FormatException e) {
      return Reply.text(400, String.valueOf(e.getMessage()), "malformed");
    }
    Verdict verdict;
    try {
      verdict = rule.apply(request);
    } catch (FormatException e) {
      verdict = Verdict.Denied.invalid(String.valueOf(e.getMessage()));
    }
    String outcome =
        switch (verdict) {
          case Verdict.Allowed allowed -> allowed.patch().isEmpty() ? "allowed" : "mended";
          case Verdict.Denied _ -> "denied";
        };
    return new Reply(200, "application/json", AdmissionReviews.answer(request, verdict), outcome);
  }
}
