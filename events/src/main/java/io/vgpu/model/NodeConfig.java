package io.vgpu.model;

import static io.vgpu.model.Checks.check;

/**
 * How a node divides its cards (annotation {@code node-config-info}, node-agent.md 1.6).
 *
 * @param deviceSplit slots per card; 0 turns the node off for vGPU
 * @param coresScaling factor on the 100 percent of a card that may be promised
 * @param memoryFactor MiB in one unit of {@code vgpu-memory}
 * @param memoryScaling factor on the physical memory; above 1 is oversubscription
 */
public record NodeConfig(
    int deviceSplit, double coresScaling, int memoryFactor, double memoryScaling) {
  public static final NodeConfig DEFAULT = new NodeConfig(10, 1, 1, 1);
  public static final double MAX_SCALING = 1000;

  public NodeConfig {
    check(
        deviceSplit >= 0 && deviceSplit <= 100_000,
        "deviceSplit %d: must be 0 to 100000",
        deviceSplit);
    check(scaling(coresScaling), "coresScaling %s: must be 0 to 1000", coresScaling);
    check(memoryFactor >= 0, "memoryFactor %d: must not be negative", memoryFactor);
    check(scaling(memoryScaling), "memoryScaling %s: must be 0 to 1000", memoryScaling);
  }

  private static boolean scaling(double value) {
    return value >= 0 && value <= MAX_SCALING;
  }
}
