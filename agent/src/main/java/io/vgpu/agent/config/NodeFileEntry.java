package io.vgpu.agent.config;

import io.vgpu.agent.gpu.DeviceSelection;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;

/**
 * The entry of a node configuration file that applies to a node; an absent field keeps what the
 * flags say.
 */
public record NodeFileEntry(
    Optional<List<String>> deviceListStrategy,
    OptionalInt deviceSplitCount,
    OptionalDouble deviceMemoryScaling,
    OptionalInt deviceMemoryFactor,
    OptionalDouble deviceCoresScaling,
    Optional<DeviceSelection> excludeDevices,
    Optional<String> migStrategy,
    Optional<MpsDevices> mpsDevices,
    Optional<Boolean> openKernelModules) {
  /** Nothing replaces a flag. */
  public static final NodeFileEntry NONE =
      new NodeFileEntry(
          Optional.empty(),
          OptionalInt.empty(),
          OptionalDouble.empty(),
          OptionalInt.empty(),
          OptionalDouble.empty(),
          Optional.empty(),
          Optional.empty(),
          Optional.empty(),
          Optional.empty());
}
