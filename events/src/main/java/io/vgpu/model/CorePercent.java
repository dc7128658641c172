package io.vgpu.model;

import static io.vgpu.model.Checks.check;

/**
 * A share of one card's compute, 0 to 100 percent; 0 beside others means: no limit of its own
 * (node-agent.md 2.10).
 */
public record CorePercent(int value) implements Comparable<CorePercent> {
  public static final CorePercent ZERO = new CorePercent(0);
  public static final CorePercent WHOLE = new CorePercent(100);

  public CorePercent {
    check(value >= 0 && value <= 100, "cores %d: must be 0 to 100 percent of one card", value);
  }

  @Override
  public int compareTo(CorePercent other) {
    return Integer.compare(value, other.value);
  }

  @Override
  public String toString() {
    return value + " %";
  }
}
