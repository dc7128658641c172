package io.vgpu.agent.health;

/**
 * How it stands with one card: healthy, suspect, unhealthy, probing, healthy again. What it is
 * after one more piece of {@link Evidence} is decided here and nowhere else. Pure; times are of one
 * monotonic clock, in ns.
 *
 * @param cause why it is not healthy, of what came first; empty while healthy
 * @param lasting only a reset or a reboot mends it
 * @param falls how often it became unhealthy lately
 * @param since when it came to stand so
 * @param troubled when something last spoke against it
 */
public record CardHealth(
    Standing standing, String cause, boolean lasting, int falls, long since, long troubled) {

  /** A card of which nothing bad is known. */
  public static CardHealth healthy(long now) {
    return new CardHealth(Standing.HEALTHY, "", false, 0, now, now);
  }

  /** A card that was unhealthy when the agent ended. */
  public static CardHealth remembered(String cause, boolean lasting, int falls, long now) {
    return new CardHealth(Standing.UNHEALTHY, cause, lasting, falls, now, now);
  }

  /** What it is when this is known as well. */
  public CardHealth after(Evidence evidence, long now, HealthRules rules) {
    return switch (evidence) {
      case Evidence.Answered() -> answered(now, rules);
      case Evidence.Trouble(String what) -> troubled(what, now, rules);
      case Evidence.Fault(String what, boolean lasts) -> fallen(what, lasts, now);
      case Evidence.Mended() ->
          standing == Standing.UNHEALTHY
              ? new CardHealth(Standing.PROBING, cause, false, falls, now, troubled)
              : this;
    };
  }

  private CardHealth answered(long now, HealthRules rules) {
    return switch (standing) {
      case HEALTHY -> falls > 0 && now - since >= rules.forgivenNanos() ? healthy(now) : this;
      case SUSPECT -> new CardHealth(Standing.HEALTHY, "", false, falls, now, troubled);
      case UNHEALTHY ->
          !lasting && now - troubled >= rules.quiet().toNanos()
              ? new CardHealth(Standing.PROBING, cause, false, falls, now, troubled)
              : this;
      case PROBING ->
          now - since >= rules.probeNanos(falls)
              ? new CardHealth(Standing.HEALTHY, "", false, falls, now, troubled)
              : this;
    };
  }

  private CardHealth troubled(String what, long now, HealthRules rules) {
    return switch (standing) {
      case HEALTHY -> new CardHealth(Standing.SUSPECT, what, false, falls, now, now);
      case SUSPECT ->
          now - since >= rules.grace().toNanos()
              ? fallen(cause, false, now)
              : new CardHealth(standing, cause, false, falls, since, now);
      case UNHEALTHY -> new CardHealth(standing, cause, lasting, falls, since, now);
      case PROBING -> fallen(what, false, now);
    };
  }

  private CardHealth fallen(String what, boolean lasts, long now) {
    if (standing == Standing.UNHEALTHY) {
      // what lasts is what a person must know
      String why = lasts && !lasting ? what : cause;
      return new CardHealth(standing, why, lasting || lasts, falls, since, now);
    }
    return new CardHealth(Standing.UNHEALTHY, what, lasts, falls + 1, now, now);
  }
}
