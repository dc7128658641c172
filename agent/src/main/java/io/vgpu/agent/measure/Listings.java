package io.vgpu.agent.measure;

import io.vgpu.agent.shim.ShimWriter.Owner;
import java.time.Duration;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * What the driver's process lists said of each container's memory, and when: a figure of which the
 * driver tells no more is gone after a while, not shown for ever. Any thread.
 */
public final class Listings {
  private static final Duration STALE = Duration.ofSeconds(10);

  private record Key(Owner owner, int device) {}

  private record Listed(long bytes, long atNanos) {}

  private final Map<Key, Listed> listed = new ConcurrentHashMap<>(); // of attached containers only

  /** The driver listed all processes of a container, with their memory. */
  public void put(Owner owner, int device, long bytes, long nowNanos) {
    listed.put(new Key(owner, device), new Listed(bytes, nowNanos));
  }

  OptionalLong bytes(Owner owner, int device, long nowNanos) {
    Listed found = listed.get(new Key(owner, device));
    return found == null || nowNanos - found.atNanos > STALE.toNanos()
        ? OptionalLong.empty()
        : OptionalLong.of(found.bytes);
  }

  void retain(Set<Owner> present) {
    listed.keySet().removeIf(key -> !present.contains(key.owner()));
  }
}
