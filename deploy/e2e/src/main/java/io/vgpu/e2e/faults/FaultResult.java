package io.vgpu.e2e.faults;

import java.util.List;
import java.util.Locale;

/** How it ended: {@code findings} is empty where nothing was lost. */
record FaultResult(
    Fault fault, int pods, int failed, int replaced, double seconds, List<String> findings) {
  FaultResult {
    findings = List.copyOf(findings);
  }

  boolean pass() {
    return findings.isEmpty();
  }

  String line() {
    return String.format(
        Locale.ROOT,
        "%-4s %-14s %-58s %3d pods, %3d failed, %3d replaced, %5.1f s%s",
        pass() ? "ok" : "FAIL",
        fault.group(),
        fault.name(),
        pods,
        failed,
        replaced,
        seconds,
        pass() ? "" : ": " + findings.getFirst());
  }
}
