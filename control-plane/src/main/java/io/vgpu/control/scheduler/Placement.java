package io.vgpu.control.scheduler;

import io.vgpu.control.cluster.Footprint;
import io.vgpu.model.PodClaim;
import java.util.List;

/**
 * A plan for one pod on one node.
 *
 * @param choices one a container: which cards and by what order
 */
public record Placement(String node, PodClaim claim, Footprint footprint, List<Choice> choices) {
  public Placement {
    choices = List.copyOf(choices);
  }

  /** One sentence a container, for people. */
  List<String> why() {
    return choices.stream().map(Choice::words).toList();
  }
}
