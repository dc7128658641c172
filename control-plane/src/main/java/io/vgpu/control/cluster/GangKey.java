package io.vgpu.control.cluster;

import java.util.Arrays;
import java.util.List;

/** What a gang is called wherever it is named (control-plane.md 2.2): namespace and name. Pure. */
public final class GangKey {
  private GangKey() {}

  /**
   * The key of a reference made in {@code namespace}: a bare name, {@code namespace/name}, or one
   * with an end left out; empty when nothing is named.
   */
  public static String of(String namespace, String reference) {
    List<String> parts =
        Arrays.stream(reference.split("/", -1))
            .map(String::strip)
            .filter(p -> !p.isEmpty())
            .toList();
    return switch (parts.size()) {
      case 0 -> "";
      case 1 -> namespace + "/" + parts.getFirst();
      default -> String.join("/", parts);
    };
  }
}
