package io.vgpu.agent;

import io.vertx.core.Future;
import io.vertx.core.VerticleBase;
import io.vgpu.agent.config.AgentConfig;
import io.vgpu.agent.config.NodeFile;
import io.vgpu.agent.config.NodeFileEntry;
import io.vgpu.agent.gpu.NodeGpus;
import io.vgpu.event.VgpuEvent.GpuInventoryChanged;
import io.vgpu.event.wire.EventBusPort;
import io.vgpu.model.NodeConfig;
import io.vgpu.runtime.UsageException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.function.BiConsumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Follows the file of {@code --node-config-path} while the agent runs (ADR 0016): what says how
 * cards are divided and which are left out applies at once, to the kubelet's list, the node's
 * annotations and containers that start from now on; other keys are named as waiting for a restart.
 * A file that became unusable changes nothing and is told. Event loop; the file is read off it.
 */
final class ConfigFollower extends VerticleBase {
  private static final Logger log = LoggerFactory.getLogger(ConfigFollower.class);

  /** A ConfigMap takes longer than this to reach the node. */
  static final Duration LOOK_EVERY = Duration.ofSeconds(2);

  /**
   * Where settings come from.
   *
   * @param entry what applied when {@code again} was last asked
   * @param again flags with another entry of the file; throws {@link UsageException}
   */
  record Source(
      Path file, String node, NodeFileEntry entry, Function<NodeFileEntry, AgentConfig> again) {}

  /** What a look at a changed file came to. */
  enum Outcome {
    APPLIED,
    REFUSED,
    RESTART
  }

  private record Found(byte[] bytes, @Nullable NodeFileEntry entry, String fault) {}

  private final Source source;
  private final NodeGpus gpus;
  private final int memoryFactor;
  private final EventBusPort bus;
  private final BiConsumer<Outcome, String> tell;
  private final Duration every;
  private final Clock clock;
  private NodeFileEntry applied;
  private byte[] seen = {};
  private String lastFault = "";
  private boolean looking;

  /** {@code tell} hears of each change once, with words for people. */
  ConfigFollower(
      Source source,
      NodeGpus gpus,
      EventBusPort bus,
      BiConsumer<Outcome, String> tell,
      Duration every,
      Clock clock) {
    this.source = source;
    this.gpus = gpus;
    this.memoryFactor = gpus.published().config().memoryFactor();
    this.bus = bus;
    this.tell = tell;
    this.every = every;
    this.clock = clock;
    this.applied = source.entry();
  }

  @Override
  public Future<?> start() {
    vertx.setPeriodic(every.toMillis(), t -> look());
    return Future.succeededFuture();
  }

  private void look() {
    if (looking) {
      return; // a disk that hangs is asked once
    }
    looking = true;
    byte[] before = seen;
    vertx
        .executeBlocking(() -> read(before), false)
        .onComplete(
            read -> {
              looking = false;
              if (read.failed()) {
                fault(read.cause().toString());
              } else if (read.result() != null) {
                take(read.result());
              }
            });
  }

  /** Null: as it was. */
  private @Nullable Found read(byte[] before) throws IOException {
    byte[] bytes = Files.readAllBytes(source.file());
    if (Arrays.equals(bytes, before)) {
      return null;
    }
    try {
      return new Found(bytes, NodeFile.read(source.file()).entryFor(source.node()), "");
    } catch (UsageException e) {
      return new Found(bytes, null, String.valueOf(e.getMessage()));
    }
  }

  private void take(Found found) {
    seen = found.bytes();
    if (found.entry() == null) {
      fault(found.fault());
      return;
    }
    lastFault = "";
    NodeFileEntry entry = found.entry();
    List<String> changed = entry.differences(applied);
    if (changed.isEmpty()) {
      return; // another node's entry, or words
    }
    AgentConfig config;
    try {
      config = source.again().apply(entry);
    } catch (UsageException e) {
      fault(String.valueOf(e.getMessage()));
      return;
    }
    applied = entry;
    NodeConfig division = config.cards().division();
    // the units of vgpu-memory that running pods hold are counted by the factor they came with
    if (gpus.reconfigure(
        new NodeConfig(
            division.deviceSplit(),
            division.coresScaling(),
            memoryFactor,
            division.memoryScaling()),
        config.cards().excluded())) {
      bus.publish(new GpuInventoryChanged(clock.instant(), source.node(), gpus.published()));
    }
    List<String> later =
        entry.differences(source.entry()).stream()
            .filter(k -> !NodeFileEntry.LIVE.contains(k))
            .toList();
    if (later.isEmpty()) {
      told(Outcome.APPLIED, source.file() + ": applied: " + String.join(", ", changed));
    } else {
      told(
          Outcome.RESTART,
          source.file()
              + ": these apply when the agent starts again, the rest does now: "
              + String.join(", ", later));
    }
  }

  private void fault(String text) {
    if (!text.equals(lastFault)) {
      lastFault = text;
      told(Outcome.REFUSED, "settings stay as they were: " + text);
    }
  }

  private void told(Outcome outcome, String text) {
    if (outcome == Outcome.APPLIED) {
      log.info("node configuration read again [{}]", text);
    } else {
      log.warn("node configuration read again [outcome: {}, {}]", outcome, text);
    }
    tell.accept(outcome, text);
  }
}
