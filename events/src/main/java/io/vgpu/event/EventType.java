package io.vgpu.event;

import java.util.function.Function;

/**
 * One kind of fact: its versioned name, the topic and key that keep its order between processes,
 * and what may be lost.
 *
 * @param name past tense and version, e.g. {@code claim-attached.v1}
 * @param key facts with equal keys stay in order
 */
public record EventType<T extends VgpuEvent>(
    String name, Class<T> type, String topic, Function<T, String> key, Delivery delivery) {
  /** What a full queue does to facts of this kind. */
  public enum Delivery {
    AT_LEAST_ONCE,
    MAY_DROP_OLDEST
  }

  /** The event bus address. */
  public String address() {
    return "vgpu." + name;
  }
}
