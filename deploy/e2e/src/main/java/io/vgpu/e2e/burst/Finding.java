package io.vgpu.e2e.burst;

import java.util.Optional;

/**
 * Something that must not be.
 *
 * @param check the broken promise
 * @param uid of the pod that it is about, if it is about one
 */
record Finding(Check check, Optional<String> uid, String text) {
  /** The promises of a burst. */
  enum Check {
    /** A container sees exactly its claim, and the claim is what was asked for. */
    CLAIM,
    /** No card is promised beyond what it has, at no event. */
    OVER_COMMIT,
    /** No device id in two containers; the kubelet's ids are the claim's cards. */
    IDS,
    /** Who failed is replaced exactly once, nobody is lost. */
    SUCCESSION,
    /** The burst mixes the orders, or it shows nothing. */
    ORDER,
    /** Our accounts may do what they do. */
    RIGHTS,
    /** Every part and every wait of the burst itself works. */
    RUN
  }

  static Finding of(Check check, String text) {
    return new Finding(check, Optional.empty(), text);
  }

  static Finding about(Check check, String uid, String text) {
    return new Finding(check, Optional.of(uid), text);
  }

  @Override
  public String toString() {
    return check + uid.map(u -> " [pod " + u + "]").orElse("") + ": " + text;
  }
}
