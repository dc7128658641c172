package io.vgpu.e2e.demo;

import io.vgpu.e2e.product.ProductConfig;
import java.util.Arrays;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/** The deliberate breaks: what each changes, and the steps at which the demo must notice it. */
public enum Break {
  WEBHOOK_DOWN("webhook-down", Set.of("mended")),
  SWAPPED_UUID("swapped-uuid", Set.of("sees")),
  AGENT_DEAD("agent-dead", Set.of("placed", "admitted")),
  MOUNT_MISSING("mount-missing", Set.of("sees")),
  FORGED_ANNOTATION("forged-annotation", Set.of("admitted"));

  private final String word;
  private final Set<String> noticedAt;

  Break(String word, Set<String> noticedAt) {
    this.word = word;
    this.noticedAt = noticedAt;
  }

  /** As on the command line. */
  public String word() {
    return word;
  }

  /** Whether failing at this step is what the break must cause. */
  boolean isNoticedAt(String step) {
    return noticedAt.contains(step);
  }

  /** How our parts are started for it. */
  ProductConfig config() {
    return switch (this) {
      case WEBHOOK_DOWN -> ProductConfig.DEFAULT.withoutWebhook();
      case SWAPPED_UUID, MOUNT_MISSING -> ProductConfig.DEFAULT.withTamper(word);
      case FORGED_ANNOTATION -> ProductConfig.DEFAULT.withoutGuard();
      case AGENT_DEAD -> ProductConfig.DEFAULT;
    };
  }

  /** The break of a word. */
  public static Optional<Break> of(String word) {
    return Arrays.stream(values()).filter(b -> b.word.equals(word)).findFirst();
  }

  /** Every word, for messages. */
  public static String words() {
    return Arrays.stream(values()).map(Break::word).collect(Collectors.joining(", "));
  }
}
