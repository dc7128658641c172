package io.vgpu.e2e.burst;

import io.vgpu.model.ContainerClaim;
import io.vgpu.model.ContainerDemand;
import io.vgpu.model.ContainerKind;
import io.vgpu.model.DeviceClaim;
import io.vgpu.model.GpuDevice;
import io.vgpu.model.PodClaim;
import io.vgpu.model.PodDemand;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Sums what claims promise of each card (control-plane.md 3.5) and says where more is promised than
 * there is. Reckoned anew from all claims each time, on purpose unlike the scheduler's incremental
 * sums. Pure.
 */
public final class CardLedger {
  private final Map<String, Use> capacity = new TreeMap<>();

  public CardLedger(Collection<GpuDevice> cards) {
    cards.forEach(c -> capacity.put(c.uuid().value(), new Use(c.number(), c.core(), c.memory())));
  }

  /** Slots, percent of cores and MiB of one card. */
  record Use(long slots, long cores, long memoryMiB) {
    static final Use NONE = new Use(0, 0, 0);

    Use plus(Use other) {
      return new Use(slots + other.slots, cores + other.cores, memoryMiB + other.memoryMiB);
    }

    Use max(Use other) {
      return new Use(
          Math.max(slots, other.slots),
          Math.max(cores, other.cores),
          Math.max(memoryMiB, other.memoryMiB));
    }

    boolean fits(Use capacity) {
      return slots <= capacity.slots && cores <= capacity.cores && memoryMiB <= capacity.memoryMiB;
    }

    @Override
    public String toString() {
      return slots + " slots, " + cores + " % cores, " + memoryMiB + " MiB";
    }
  }

  /** A pod that holds its claim. */
  public record Holder(PodDemand demand, PodClaim claim) {}

  /** The cards that are promised beyond their capacity; unknown cards have none. */
  public Optional<String> overCommit(List<Holder> holders) {
    Map<String, Use> used = new TreeMap<>();
    for (Holder holder : holders) {
      footprint(holder).forEach((uuid, use) -> used.merge(uuid, use, Use::plus));
    }
    List<String> over =
        used.entrySet().stream()
            .filter(e -> !e.getValue().fits(capacity.getOrDefault(e.getKey(), Use.NONE)))
            .map(
                e ->
                    e.getKey()
                        + " has "
                        + capacity.getOrDefault(e.getKey(), Use.NONE)
                        + ", promised are "
                        + e.getValue())
            .toList();
    return over.isEmpty() ? Optional.empty() : Optional.of(String.join("; ", over));
  }

  /** Per card: sidecars + max(sum of the apps, largest sequential init container). */
  static Map<String, Use> footprint(Holder holder) {
    Map<ContainerKind, Map<String, Use>> sums = new HashMap<>();
    for (ContainerDemand c : holder.demand().vgpuContainers()) {
      Map<String, Use> sum = sums.computeIfAbsent(c.kind(), k -> new HashMap<>());
      for (DeviceClaim d :
          holder.claim().of(c.name()).map(ContainerClaim::devices).orElse(List.of())) {
        Use use = new Use(1, d.cores().value(), d.memory().value());
        sum.merge(d.uuid().value(), use, c.kind() == ContainerKind.INIT ? Use::max : Use::plus);
      }
    }
    Map<String, Use> inits = sums.getOrDefault(ContainerKind.INIT, Map.of());
    Map<String, Use> sidecars = sums.getOrDefault(ContainerKind.SIDECAR, Map.of());
    Map<String, Use> apps = sums.getOrDefault(ContainerKind.APP, Map.of());
    TreeSet<String> cards = new TreeSet<>(inits.keySet());
    cards.addAll(sidecars.keySet());
    cards.addAll(apps.keySet());
    Map<String, Use> footprint = new TreeMap<>();
    for (String card : cards) {
      footprint.put(
          card,
          sidecars
              .getOrDefault(card, Use.NONE)
              .plus(apps.getOrDefault(card, Use.NONE).max(inits.getOrDefault(card, Use.NONE))));
    }
    return footprint;
  }
}
