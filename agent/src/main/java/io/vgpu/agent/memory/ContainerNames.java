package io.vgpu.agent.memory;

import java.util.Optional;

/** Tells a pod's containers apart by the runtime's ids. Any thread, reads memory only. */
public interface ContainerNames {
  /** The name of the container with this id; empty if that is not known (yet). */
  Optional<String> nameOf(String podUid, String containerId);
}
