package io.vgpu.control.scheduler;

import io.vgpu.control.cluster.Footprint;
import io.vgpu.control.scheduler.topology.Alignment.Window;
import io.vgpu.control.scheduler.topology.Closeness;
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

  /** How close its cards are: the worst container's. */
  public Closeness closeness() {
    return choices.stream()
        .filter(c -> !c.chosen().isEmpty())
        .map(c -> c.topology().result())
        .reduce(Closeness::worse)
        .orElse(Closeness.NONE);
  }

  /** What a topology mode wished for and did not get, each once. */
  List<String> fallbacks() {
    return choices.stream()
        .map(c -> c.topology().fallback())
        .filter(text -> !text.isEmpty())
        .distinct()
        .toList();
  }

  /** The part of the node that its siblings' places led to: the loosest container's. */
  Window window() {
    return choices.stream()
        .filter(c -> !c.chosen().isEmpty())
        .map(c -> c.topology().window())
        .max(Window::compareTo)
        .orElse(Window.NONE);
  }

  /** One sentence a container, for people. */
  List<String> why() {
    return choices.stream().map(Choice::words).toList();
  }
}
