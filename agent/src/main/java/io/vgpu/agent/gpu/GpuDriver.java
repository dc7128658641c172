package io.vgpu.agent.gpu;

import io.vgpu.model.GpuUuid;
import io.vgpu.model.NodeTopology;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * The boundary to the GPU driver. Every call may block, even for ever: {@link #sample} and {@link
 * #processes} belong on lane {@code nvml-<index>}, {@link #awaitHealthEvent} on lane {@code
 * nvml-events}, the rest on a lane of the caller's. Failures are {@link GpuDriverException}s that
 * carry the driver's own code.
 */
public interface GpuDriver extends AutoCloseable {
  /** Versions of driver, NVML and CUDA. */
  DriverInfo info();

  /** Every physical card, MIG-enabled ones included, sorted by index. */
  List<PhysicalGpu> discover();

  /** Links between the cards (node-agent.md 1.6); pairs without a link are left out. */
  NodeTopology topology();

  /** The card's own figures, now. */
  CardSample sample(GpuUuid gpu);

  /** The processes that compute on the card, now. */
  List<GpuProcess> processes(GpuUuid gpu);

  /**
   * Waits up to {@code timeout} for news of a card's health; empty when none came. One caller at a
   * time.
   */
  Optional<HealthEvent> awaitHealthEvent(Duration timeout);

  @Override
  void close();
}
