package io.vgpu.control.scheduler;

import io.vgpu.control.cluster.NodeView;
import io.vgpu.control.cluster.Use;
import io.vgpu.control.testing.Pods;
import io.vgpu.model.Reason;
import java.util.List;
import java.util.Map;

/** One row of control-plane.md 8: a node, a pod, and what is promised. */
record Scenario(String id, String title, NodeView node, Pods pod, Expected expected) {
  /** What a row promises of one pod on one node. */
  sealed interface Expected {}

  /** Claim text, and what the pod takes of the cards named (by index). */
  record Placed(String claim, Map<Integer, Use> footprint) implements Expected {}

  /** A refusal; {@code texts} are parts of its detailed form. */
  record Rejected(Reason reason, List<String> texts) implements Expected {}

  static Scenario row(String id, String title, NodeView node, Pods pod, Expected expected) {
    return new Scenario(id, title, node, pod, expected);
  }

  static Placed placed(String claim) {
    return new Placed(claim, Map.of());
  }

  static Placed placed(String claim, Map<Integer, Use> footprint) {
    return new Placed(claim, footprint);
  }

  static Rejected rejected(Reason reason, String... texts) {
    return new Rejected(reason, List.of(texts));
  }

  @Override
  public String toString() {
    return id + ": " + title;
  }
}
