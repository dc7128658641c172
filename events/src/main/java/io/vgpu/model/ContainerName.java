package io.vgpu.model;

/**
 * Kubernetes' rule for container names (a DNS label); claims and directories are built from them.
 */
public final class ContainerName {
  public static final String RULE =
      "must be a DNS label (1 to 63 of a-z, 0-9 and -, alphanumeric at both ends)";

  private ContainerName() {}

  /** Whether {@code name} is a DNS label. */
  public static boolean isValid(String name) {
    if (name.isEmpty() || name.length() > 63) {
      return false;
    }
    for (int i = 0; i < name.length(); i++) {
      char c = name.charAt(i);
      boolean alphanumeric = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
      boolean inside = i > 0 && i < name.length() - 1;
      if (!alphanumeric && !(c == '-' && inside)) {
        return false;
      }
    }
    return true;
  }
}
