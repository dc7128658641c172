package io.vgpu.agent.deviceplugin;

import io.vgpu.model.GpuUuid;
import java.util.Comparator;
import java.util.Optional;

/**
 * Device ids of {@code vgpu-number}: {@code <gpu uuid>::<n>}, n from 0 (node-agent.md 2.4). The
 * number only tells ids of one card apart; what a container gets is decided by the UUID (D2).
 */
public final class DeviceIds {
  private static final String SEPARATOR = "::";

  /** By card, then by number, so that equal offers give equal answers. */
  static final Comparator<String> ORDER =
      Comparator.comparing(DeviceIds::card)
          .thenComparingInt(String::length)
          .thenComparing(id -> id);

  private DeviceIds() {}

  /** The id of one slot of a card. */
  public static String of(GpuUuid gpu, int n) {
    return gpu.value() + SEPARATOR + n;
  }

  /** The card of an id; empty when the text is no id of ours. */
  public static Optional<GpuUuid> gpu(String id) {
    int at = id.indexOf(SEPARATOR);
    if (at <= 0 || at > GpuUuid.MAX_LENGTH) {
      return Optional.empty();
    }
    String n = id.substring(at + SEPARATOR.length());
    if (n.isEmpty() || n.length() > 6 || !n.chars().allMatch(c -> c >= '0' && c <= '9')) {
      return Optional.empty();
    }
    try {
      return Optional.of(new GpuUuid(id.substring(0, at)));
    } catch (IllegalArgumentException e) {
      return Optional.empty(); // the kubelet asks about an id that we never offered
    }
  }

  private static String card(String id) {
    int at = id.indexOf(SEPARATOR);
    return at < 0 ? id : id.substring(0, at);
  }
}
