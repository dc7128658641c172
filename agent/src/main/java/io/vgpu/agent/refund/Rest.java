package io.vgpu.agent.refund;

/**
 * What is left of a length when rounds of whole time slices of others are taken out, as many as
 * there must have been.
 *
 * @param own what is left
 * @param switches of what was taken out, the switching
 */
record Rest(long own, long switches, int rounds) {
  static final int MOST_ROUNDS = 3;

  /** Nobody has the card for less. */
  static final long LEAST_OWN_NS = 10_000;

  static Rest of(GpuModel model, long lengthNs, int others) {
    if (lengthNs <= model.wholeNs()) {
      return new Rest(lengthNs, 0, 0);
    }
    long switches = model.changeNs() * (others + 1);
    long round = switches + model.turnNs() * others;
    long own = lengthNs;
    int rounds = 0;
    while (rounds < MOST_ROUNDS
        && own - round >= LEAST_OWN_NS
        && (rounds == 0 || own > model.turnNs() * (rounds + 1))) {
      own -= round;
      rounds++;
    }
    return new Rest(own, switches * rounds, rounds);
  }
}
