package io.vgpu.control.cluster;

import java.util.Locale;

/** Whether a pod insists on nodes with or without oversubscribed memory (control-plane.md 2.2). */
public enum MemoryPolicy {
  ANY,
  VIRTUAL,
  PHYSICAL;

  /** Values starting {@code virt} or {@code phy} constrain, anything else does not. */
  public static MemoryPolicy parse(String text) {
    String value = text.strip().toLowerCase(Locale.ROOT);
    return value.startsWith("virt") ? VIRTUAL : value.startsWith("phy") ? PHYSICAL : ANY;
  }

  /** Whether a node with this memoryScaling may be used. */
  public boolean accepts(double memoryScaling) {
    return switch (this) {
      case ANY -> true;
      case VIRTUAL -> memoryScaling > 1;
      case PHYSICAL -> memoryScaling <= 1;
    };
  }
}
