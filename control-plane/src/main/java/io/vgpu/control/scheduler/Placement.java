package io.vgpu.control.scheduler;

import io.vgpu.control.cluster.Footprint;
import io.vgpu.model.PodClaim;
import java.util.List;

/**
 * A plan for one pod on one node.
 *
 * @param why one sentence a container: which cards and by what order, for people
 */
public record Placement(String node, PodClaim claim, Footprint footprint, List<String> why) {
  public Placement {
    why = List.copyOf(why);
  }
}
