package io.vgpu.agent.config;

import io.vgpu.agent.gpu.DeviceSelection;
import java.lang.reflect.RecordComponent;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.Set;

/**
 * The entry of a node configuration file that applies to a node; an absent field keeps what the
 * flags say. Components are called as the file's keys are.
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
    Optional<Boolean> openKernelModules,
    Optional<Boolean> gdsEnabled,
    Optional<Boolean> mofedEnabled,
    Optional<Boolean> gdrcopyEnabled,
    Optional<AgentConfig.Imex> imex) {
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
          Optional.empty(),
          Optional.empty(),
          Optional.empty(),
          Optional.empty(),
          Optional.empty());

  /** Keys that apply while the agent runs. */
  public static final Set<String> LIVE =
      Set.of("deviceSplitCount", "deviceMemoryScaling", "deviceCoresScaling", "excludeDevices");

  /** Keys of the file in which the two are not the same, as they are called there. */
  public List<String> differences(NodeFileEntry other) {
    List<String> keys = new ArrayList<>();
    for (RecordComponent c : NodeFileEntry.class.getRecordComponents()) {
      try {
        if (!c.getAccessor().invoke(this).equals(c.getAccessor().invoke(other))) {
          keys.add(c.getName());
        }
      } catch (ReflectiveOperationException e) {
        throw new IllegalStateException("a record's own accessor", e);
      }
    }
    return keys;
  }
}
