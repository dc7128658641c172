package io.vgpu.e2e.burst;

import java.util.Locale;

/** A process that the burst kills with SIGKILL. */
enum Victim {
  EXTENDER,
  CONTROLLER,
  AGENT,
  KUBELET;

  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }
}
