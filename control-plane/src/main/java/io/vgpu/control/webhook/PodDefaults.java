package io.vgpu.control.webhook;

import io.vgpu.runtime.UsageException;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * What the webhook fills in where a pod says nothing (control-plane.md 1.6); an empty one fills in
 * nothing.
 */
public record PodDefaults(
    Optional<String> schedulerName,
    Optional<String> nodePolicy,
    Optional<String> devicePolicy,
    Optional<String> topologyMode,
    Optional<String> runtimeClass) {
  public static final PodDefaults NONE = of("", "", "", "", "");
  private static final List<String> POLICIES = List.of("binpack", "spread", "fgd", "foresight");
  private static final List<String> TOPOLOGIES =
      List.of("numa", "numa-strict", "link", "link-strict");

  /** From the flags' texts; an unknown word is refused, because it would silently mean nothing. */
  public static PodDefaults of(
      String schedulerName,
      String nodePolicy,
      String devicePolicy,
      String topologyMode,
      String runtimeClass) {
    return new PodDefaults(
        text(schedulerName),
        word("--default-node-policy", nodePolicy, POLICIES),
        word("--default-device-policy", devicePolicy, POLICIES),
        word("--default-topology-mode", topologyMode, TOPOLOGIES),
        text(runtimeClass));
  }

  private static Optional<String> text(String value) {
    return Optional.of(value.strip()).filter(v -> !v.isEmpty());
  }

  private static Optional<String> word(String flag, String value, List<String> known) {
    Optional<String> word = text(value).map(v -> v.toLowerCase(Locale.ROOT));
    word.ifPresent(
        w -> {
          if (!known.contains(w)) {
            throw new UsageException(
                flag + " \"" + value + "\": must be one of " + String.join(", ", known));
          }
        });
    return word;
  }
}
