package io.vgpu.control.cluster;

import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * What is known of a pod beside its request: whom it belongs to, and who may take its place
 * (control-plane.md 2.2, 4.2).
 *
 * @param priority {@code spec.priority}, null when unset
 * @param mirror a static pod's image in the API
 * @param daemonSet a DaemonSet's pod: it would come back to the same node
 * @param gang key of its gang, empty when it has none
 * @param owner UID of its controller, empty when it has none
 * @param created seconds since the epoch
 * @param labels what disruption budgets select by
 */
public record PodTraits(
    @Nullable Integer priority,
    boolean mirror,
    boolean daemonSet,
    String gang,
    String owner,
    long created,
    Map<String, String> labels) {
  public static final PodTraits NONE = new PodTraits(null, false, false, "", "", 0, Map.of());

  /** From this priority on pods belong to the system. */
  public static final int CRITICAL = 2_000_000_000;

  public PodTraits {
    labels = Map.copyOf(labels);
  }

  /** For a pod that is never chosen as a victim by us, so that no budget is asked. */
  public PodTraits withoutLabels() {
    PodTraits bare = new PodTraits(priority, mirror, daemonSet, "", "", 0, Map.of());
    return bare.equals(NONE) ? NONE : bare;
  }

  /** Whether nobody may take its place. */
  public boolean critical() {
    return mirror || (priority != null && priority >= CRITICAL);
  }

  /** Whether this pod may take the other's place: both say their priority, and ours is higher. */
  public boolean mayPreempt(PodTraits other) {
    if (critical() && !other.critical()) {
      return true;
    }
    return priority != null && other.priority != null && priority > other.priority;
  }

  /** For an order among victims. */
  public int priorityOrZero() {
    return priority == null ? 0 : priority;
  }

  /** Every key under which others may look for it. */
  List<String> groups() {
    return Stream.of(gang.isEmpty() ? "" : "gang " + gang, owner.isEmpty() ? "" : "owner " + owner)
        .filter(g -> !g.isEmpty())
        .toList();
  }

  /** Key under which siblings are found: the gang, else the owner; empty when it has none. */
  public String siblings() {
    return gang.isEmpty() ? (owner.isEmpty() ? "" : "owner " + owner) : "gang " + gang;
  }
}
