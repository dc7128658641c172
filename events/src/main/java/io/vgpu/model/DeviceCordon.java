package io.vgpu.model;

import static io.vgpu.model.Checks.check;

/**
 * An operator's word about one card (D17).
 *
 * @param mode whether its pods stay
 * @param reason for people; may be empty
 * @param since when it was said, as written
 */
public record DeviceCordon(Mode mode, String reason, String since) {
  private static final int MAX_REASON = 256;
  private static final int MAX_SINCE = 40;

  /** What is to become of the pods that hold the card. */
  public enum Mode {
    /** They stay; no new ones come. */
    CORDON,
    /** They are evicted; no new ones come. */
    DRAIN
  }

  public DeviceCordon {
    check(
        reason.length() <= MAX_REASON,
        "reason of %d characters: at most %d",
        reason.length(),
        MAX_REASON);
    check(
        since.length() <= MAX_SINCE,
        "since of %d characters: at most %d",
        since.length(),
        MAX_SINCE);
  }
}
