package io.vgpu.control.cli.kube;

import io.vgpu.model.GpuDevice;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A node as one GET found it.
 *
 * @param version of this state: a change is refused when it is another one by then
 * @param cordon text of {@code device-cordon}
 */
public record CardFacts(
    String node, String version, List<GpuDevice> devices, @Nullable String cordon) {
  public CardFacts {
    devices = List.copyOf(devices);
  }
}
