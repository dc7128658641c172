package io.vgpu.agent.measure;

import io.vgpu.model.GpuUuid;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;

/**
 * All that one look found; immutable.
 *
 * @param atNanos by the monotonic clock
 * @param cards those with containers
 */
public record Measured(
    long atNanos, List<ContainerFigure> containers, Map<GpuUuid, CardLoad> cards) {
  public static final Measured NOTHING = new Measured(0, List.of(), Map.of());

  public Measured {
    containers = List.copyOf(containers);
    cards = Map.copyOf(cards);
  }

  /**
   * One card's own figure beside its containers'.
   *
   * @param cardPermille empty: the driver does not tell, or has not lately
   * @param containersPermille the sum over those whose time is charged
   * @param unlimited containers with processes whose time is not
   * @param unaccounted the two have disagreed for long enough
   */
  public record CardLoad(
      OptionalInt cardPermille, int containersPermille, int unlimited, boolean unaccounted) {}
}
