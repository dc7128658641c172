package io.vgpu.agent.config;

import io.vgpu.agent.gpu.DeviceSelection;
import io.vgpu.agent.gpu.PhysicalGpu;
import io.vgpu.runtime.UsageException;
import java.util.List;

/**
 * The cards that MPS is to partition: none unless they are named, since it trades isolation for
 * latency (ADR 0009). Pure.
 *
 * @param all every card of the node; {@code named} is then empty
 */
public record MpsDevices(boolean all, DeviceSelection named) {
  private static final String ALL = "all";

  /** Reads the flag: {@code all}, or a comma list. */
  public static MpsDevices parse(String list) {
    try {
      return of(List.of(list.split(",", -1)));
    } catch (UsageException e) {
      throw new UsageException("--mps-devices: " + e.getMessage());
    }
  }

  /** Reads the items of a list. */
  public static MpsDevices of(List<String> items) {
    boolean all = items.stream().anyMatch(i -> i.strip().equals(ALL));
    if (all && items.size() > 1) {
      throw new UsageException("\"all\" must stand alone, not in " + items);
    }
    return new MpsDevices(all, all ? DeviceSelection.NONE : DeviceSelection.of(items));
  }

  /** Those of the cards that are meant. A card in MIG mode is partitioned already. */
  public List<PhysicalGpu> among(List<PhysicalGpu> cards) {
    return cards.stream().filter(g -> !g.mig() && (all || named.names(g))).toList();
  }

  @Override
  public String toString() {
    return all ? ALL : named.toString();
  }
}
