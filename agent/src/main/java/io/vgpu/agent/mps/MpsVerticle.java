package io.vgpu.agent.mps;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.vertx.core.Future;
import io.vertx.core.VerticleBase;
import io.vgpu.agent.gpu.PhysicalGpu;
import io.vgpu.agent.metrics.AgentMeters;
import io.vgpu.agent.shim.Partitions;
import io.vgpu.agent.shim.ShimFolders;
import io.vgpu.model.GpuUuid;
import io.vgpu.runtime.Lane;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The daemons of all chosen cards, each on its own lane, looked after once a second. Deployed when
 * each has been looked after once, whether it serves or not: a daemon that does not come up costs
 * its card's containers the partition, nobody the node. To be undeployed before Vert.x is closed,
 * which ends the lanes first.
 */
public final class MpsVerticle extends VerticleBase implements Partitions {
  private static final Logger log = LoggerFactory.getLogger(MpsVerticle.class);
  private static final long EVERY_MS = 1000;
  private static final Duration RUN_LIMIT = Duration.ofSeconds(5);

  private static final class Card {
    final Lane lane;
    final MpsFolders folders;
    final MpsDaemon daemon;
    volatile boolean serves;
    boolean looking; // event loop only

    Card(Lane lane, MpsFolders folders, MpsDaemon daemon) {
      this.lane = lane;
      this.folders = folders;
      this.daemon = daemon;
    }
  }

  private final Map<GpuUuid, Card> cards = new LinkedHashMap<>();

  /**
   * {@code gpus}: the chosen ones; {@code usageDir}: the agent's tmpfs; {@code program}: the
   * daemon's, below the driver's root.
   */
  public MpsVerticle(
      List<PhysicalGpu> gpus,
      Map<Integer, Lane> lanes,
      Path usageDir,
      Path driverRoot,
      Path program,
      LongSupplier nanoTime,
      ShimFolders.TmpfsMount mount,
      MeterRegistry meters) {
    this(gpus, lanes, usageDir, MpsLauncher.inRoot(driverRoot, program), nanoTime, mount, meters);
  }

  MpsVerticle(
      List<PhysicalGpu> gpus,
      Map<Integer, Lane> lanes,
      Path usageDir,
      MpsLauncher launcher,
      LongSupplier nanoTime,
      ShimFolders.TmpfsMount mount,
      MeterRegistry meters) {
    for (PhysicalGpu gpu : gpus) {
      String index = Integer.toString(gpu.index());
      Lane lane = lanes.get(gpu.index());
      if (lane == null) {
        throw new IllegalArgumentException("card " + index + ": must have a lane");
      }
      MpsFolders folders = MpsFolders.below(usageDir, gpu.uuid());
      MpsDaemon daemon =
          new MpsDaemon(
              gpu.uuid().value(),
              folders,
              mount,
              new MpsProgram(launcher, folders, gpu.uuid(), RUN_LIMIT),
              result ->
                  AgentMeters.MPS_STARTS
                      .counter(meters, index, result.name().toLowerCase(Locale.ROOT))
                      .increment(),
              nanoTime);
      Card card = new Card(lane, folders, daemon);
      cards.put(gpu.uuid(), card);
      Gauge.builder(
              AgentMeters.MPS_SERVES.exposedName().replace('_', '.'), card, c -> c.serves ? 1 : 0)
          .description(AgentMeters.MPS_SERVES.meaning())
          .tag("device_idx", index)
          .tag("device_uuid", gpu.uuid().value())
          .register(meters);
    }
  }

  @Override
  public Future<?> start() {
    List<Future<Void>> first = cards.values().stream().map(this::look).toList();
    vertx.setPeriodic(EVERY_MS, t -> cards.values().forEach(this::look));
    return Future.join(first);
  }

  @Override
  public Future<?> stop() {
    return Future.join(cards.values().stream().map(MpsVerticle::end).toList());
  }

  private static Future<Boolean> end(Card card) {
    return card.lane.call(
        () -> {
          card.daemon.stop();
          return true;
        });
  }

  private Future<Void> look(Card card) {
    if (card.looking) {
      return Future.succeededFuture(); // a start takes longer than a period
    }
    card.looking = true;
    return card.lane
        .call(card.daemon::look)
        .otherwise(
            cause -> {
              log.error("MPS daemon not looked after", cause);
              return false;
            })
        .map(
            serves -> {
              card.looking = false;
              card.serves = serves;
              return null;
            });
  }

  @Override
  public Set<GpuUuid> cards() {
    return Set.copyOf(cards.keySet());
  }

  @Override
  public Optional<Folders> folders(GpuUuid card) {
    return Optional.ofNullable(cards.get(card))
        .map(c -> new Folders(c.folders.pipe(), c.folders.sharedMemory()));
  }

  @Override
  public boolean serves(GpuUuid card) {
    return Optional.ofNullable(cards.get(card)).map(c -> c.serves).orElse(false);
  }
}
