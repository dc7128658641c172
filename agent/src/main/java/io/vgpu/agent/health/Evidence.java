package io.vgpu.agent.health;

/** What was seen of a card. {@code cause} is for people and says what, not how bad. */
public sealed interface Evidence {
  /** A call on it came back with what was asked for. */
  record Answered() implements Evidence {}

  /** A call on it failed, or has not come back for longer than it may. */
  record Trouble(String cause) implements Evidence {}

  /**
   * It is out of order: no grace. {@code lasting}: only a reset or a reboot mends it, whatever it
   * answers meanwhile.
   */
  record Fault(String cause, boolean lasting) implements Evidence {}

  /** A person says that it was mended. */
  record Mended() implements Evidence {}
}
