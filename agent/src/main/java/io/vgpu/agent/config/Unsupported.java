package io.vgpu.agent.config;

import io.vgpu.runtime.UsageException;

/**
 * Settings that are known but have no effect yet: only their default is accepted, so that none is
 * silently ignored.
 */
public final class Unsupported {
  static final String RULE = "is not supported in this release";

  private Unsupported() {}

  /** Refuses another value than the default. */
  public static void check(String flag, Object value, Object only) {
    if (!value.equals(only)) {
      throw new UsageException(
          flag + ": \"" + value + "\" " + RULE + " (only \"" + only + "\" is)");
    }
  }
}
