package io.vgpu.control.reschedule;

import io.vgpu.model.PodRef;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/**
 * What is kept of a pod that may have to be replaced: a slim record, never the object.
 *
 * @param asksForVgpu whether any container asks for cards
 * @param rejected the kubelet refused it at admission for want of devices
 * @param marked the agent marked its allocation as failed
 * @param deleting somebody deleted it already
 * @param fixed why it must not be moved, if so: static, mirror or critical
 * @param owner its controller, if any
 * @param replacements how often this name was replaced before, each time soon after the last
 * @param cause what the kubelet said, for people
 * @param leaves why it must leave a card that it holds, if so
 */
public record FailedPod(
    PodRef ref,
    Phase phase,
    boolean asksForVgpu,
    boolean rejected,
    boolean marked,
    boolean deleting,
    Optional<String> fixed,
    Optional<Owner> owner,
    Instant created,
    int replacements,
    String cause,
    Optional<String> leaves) {

  /** A name that did well for so long starts from no pause again. */
  static final Duration FORGIVEN = Duration.ofMinutes(10);

  /** How often this name was replaced in a row, now that it failed. */
  public int replacementsInARow(Instant now) {
    return Duration.between(created, now).compareTo(FORGIVEN) > 0 ? 0 : replacements;
  }

  /** A pod's phase, as far as it matters here. */
  public enum Phase {
    PENDING,
    RUNNING,
    SUCCEEDED,
    FAILED
  }

  /** The controller of a pod; {@code group} is the API group, empty for the core. */
  public record Owner(String group, String kind, String name, String uid) {}

  /** Whether it has to make way: its allocation failed, or a card that it holds must be left. */
  public boolean mustGo() {
    return allocationFailed()
        || asksForVgpu && leaves.isPresent() && (phase == Phase.PENDING || phase == Phase.RUNNING);
  }

  /** Why it has to, for people. */
  public String why() {
    return allocationFailed()
        ? "the vGPU allocation failed" + (cause.isEmpty() ? "" : ": " + cause)
        : leaves.orElse("");
  }

  /**
   * Whether its allocation failed and it does not get devices any more: refused at admission, or
   * started all the same, without devices, and marked by the agent.
   */
  public boolean allocationFailed() {
    return asksForVgpu && (rejected && phase == Phase.FAILED || marked && phase != Phase.SUCCEEDED);
  }
}
