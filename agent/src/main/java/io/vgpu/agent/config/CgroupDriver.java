package io.vgpu.agent.config;

import java.util.Locale;

/**
 * Names of the kubelet's cgroup drivers, in any case. They are checked and decide nothing: where a
 * container is, is read from the cgroup of its own processes, whose shape tells (docs/adr/0023).
 */
public final class CgroupDriver {
  public static final String RULE = "must be systemd or cgroupfs";

  private CgroupDriver() {}

  /** Whether there is a driver of that name. */
  public static boolean isOne(String name) {
    String lower = name.toLowerCase(Locale.ROOT);
    return lower.equals("systemd") || lower.equals("cgroupfs");
  }
}
