package io.vgpu.agent;

import io.micrometer.core.instrument.MeterRegistry;
import io.vertx.core.Vertx;
import io.vgpu.agent.gpu.PhysicalGpu;
import io.vgpu.runtime.Lane;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The agent's lanes (architecture.md 5, D16), made before anything can ask for one by name. */
record Lanes(
    Lane files,
    Lane regions,
    Lane nvmlEvents,
    Map<Integer, Lane> nvmlByCard,
    Map<Integer, Lane> mpsByCard) {
  private static final int QUEUE = 1024;
  private static final Duration WARN_AFTER = Duration.ofSeconds(5);

  /**
   * {@code nvml-<index>} holds two calls: the sampler and the one who lists processes have never
   * more than one each under way.
   */
  static Lanes open(
      Vertx vertx, List<PhysicalGpu> gpus, List<PhysicalGpu> partitioned, MeterRegistry meters) {
    Map<Integer, Lane> byCard = new LinkedHashMap<>();
    for (PhysicalGpu gpu : gpus) {
      byCard.put(gpu.index(), new Lane(vertx, "nvml-" + gpu.index(), 2, WARN_AFTER, meters));
    }
    Map<Integer, Lane> mps = new LinkedHashMap<>();
    for (PhysicalGpu gpu : partitioned) {
      // a look and the end; a daemon that does not answer is waited for
      mps.put(
          gpu.index(), new Lane(vertx, "mps-" + gpu.index(), 4, Duration.ofSeconds(60), meters));
    }
    return new Lanes(
        new Lane(vertx, "files", QUEUE, WARN_AFTER, meters),
        new Lane(vertx, "regions", QUEUE, WARN_AFTER, meters),
        // its call waits for five seconds by design
        new Lane(vertx, "nvml-events", 2, Duration.ofSeconds(30), meters),
        Map.copyOf(byCard),
        Map.copyOf(mps));
  }

  /** Where registered processes are looked at: what tenants can fill must not be another's lane. */
  static Lane registry(Vertx vertx, MeterRegistry meters) {
    return new Lane(vertx, "registry", QUEUE, WARN_AFTER, meters);
  }
}
