package io.vgpu.control.scheduler;

import io.vgpu.control.cluster.PodRecord;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Whom kube-scheduler proposes to evict on which node (control-plane.md 4.2).
 *
 * @param nodes proposals by node, in request order
 */
record PreemptArgs(@Nullable PodRecord pod, Map<String, Proposal> nodes) {
  /** One victim; {@code full} is null where only its UID was sent. */
  record Victim(String uid, @Nullable PodRecord full) {}

  /** A node's victims, and how many budgets that violates. */
  record Proposal(List<Victim> victims, long violations) {
    Proposal {
      victims = List.copyOf(victims);
    }
  }

  PreemptArgs {
    nodes = java.util.Collections.unmodifiableMap(new LinkedHashMap<>(nodes));
  }
}
