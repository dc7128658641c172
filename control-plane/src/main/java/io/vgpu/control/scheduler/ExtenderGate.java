package io.vgpu.control.scheduler;

import io.vgpu.runtime.FeatureGate;

/** The feature gates of {@code scheduler-extender} (control-plane.md 1.2, U46). */
public enum ExtenderGate implements FeatureGate {
  SERIALIZED_NODE_FILTER(
      "SerializedNodeFilter",
      Stage.BETA,
      true,
      "reads one request after the other; off: in parallel on the snapshot"),
  SERIALIZED_NODE_BIND(
      "SerializedNodeBind",
      Stage.BETA,
      true,
      "accepted; commits are serial with either value, over-commit is impossible"),
  TOPOLOGY_AWARE_GPU_ALLOCATION(
      "TopologyAwareGPUAllocation",
      Stage.ALPHA,
      false,
      "looks at the links that nodes publish; off: link falls back to the plain order, link-strict is refused");

  private final String gateName;
  private final Stage stage;
  private final boolean onByDefault;
  private final String effect;

  ExtenderGate(String gateName, Stage stage, boolean onByDefault, String effect) {
    this.gateName = gateName;
    this.stage = stage;
    this.onByDefault = onByDefault;
    this.effect = effect;
  }

  @Override
  public String gateName() {
    return gateName;
  }

  @Override
  public Stage stage() {
    return stage;
  }

  @Override
  public boolean onByDefault() {
    return onByDefault;
  }

  @Override
  public String effect() {
    return effect;
  }
}
