package io.vgpu.agent.measure;

import io.micrometer.core.instrument.MeterRegistry;
import io.vgpu.agent.gpu.CardSample;
import io.vgpu.agent.gpu.CardSamples;
import io.vgpu.agent.measure.ContainerFigure.Seen;
import io.vgpu.agent.measure.Measured.CardLoad;
import io.vgpu.agent.metrics.AgentMeters;
import io.vgpu.agent.shim.Abi;
import io.vgpu.agent.shim.DeviceLoad;
import io.vgpu.agent.shim.OpenContainer;
import io.vgpu.agent.shim.ShimWriter.Owner;
import io.vgpu.agent.shim.UsageCopy;
import io.vgpu.model.GpuUuid;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;

/**
 * One look at all containers: what each has of its cards by its own {@code usage}, checked value by
 * value, and whether the sum fits what the driver says of the card (D8). Lane {@code regions}.
 */
final class MeasureRound {
  static final Duration LOAD_STALE = Duration.ofSeconds(2); // of figures written each 100 ms

  private final List<GpuUuid> cards;
  private final CardSamples samples;
  private final Listings listings;
  private final LongSupplier nanoTime;
  private final MeterRegistry meters;
  private final ByteBuffer slots =
      ByteBuffer.allocateDirect(Abi.SLOTS * Abi.SLOT_BYTES).order(ByteOrder.LITTLE_ENDIAN);
  private final Map<Owner, GpuTime[]> times = new HashMap<>(); // of attached containers only
  private final Map<GpuUuid, LoadCheck> checks = new HashMap<>(); // no more than the node has

  /** {@code cards}: the node's; {@code nanoTime}: CLOCK_MONOTONIC of the host. */
  MeasureRound(
      List<GpuUuid> cards,
      CardSamples samples,
      Listings listings,
      LongSupplier nanoTime,
      MeterRegistry meters) {
    this.cards = List.copyOf(cards);
    this.samples = samples;
    this.listings = listings;
    this.nanoTime = nanoTime;
    this.meters = meters;
  }

  /**
   * What a look found, the cards of which {@code unaccounted} has changed, and whose files have not
   * the size that they must have.
   */
  record Found(Measured measured, List<GpuUuid> news, List<Owner> misshapen) {}

  Found run(Collection<OpenContainer> containers) {
    long now = nanoTime.getAsLong();
    Set<Owner> present =
        containers.stream().map(OpenContainer::owner).collect(Collectors.toUnmodifiableSet());
    times.keySet().retainAll(present);
    listings.retain(present);
    List<ContainerFigure> figures = new ArrayList<>();
    List<Owner> misshapen = new ArrayList<>();
    containers.forEach(c -> look(c, now, figures, misshapen));
    Map<GpuUuid, CardLoad> loads = new HashMap<>();
    List<GpuUuid> news = new ArrayList<>();
    for (GpuUuid card : cards) {
      loads.put(card, load(card, figures, now, news));
    }
    return new Found(new Measured(now, figures, loads), List.copyOf(news), misshapen);
  }

  private void look(
      OpenContainer c, long now, List<ContainerFigure> figures, List<Owner> misshapen) {
    if (c.container().isEmpty()) {
      return; // its claim is only compared
    }
    GpuTime[] time = times.computeIfAbsent(c.owner(), o -> GpuTime.ofDevices());
    Optional<UsageCopy> usage = Optional.empty();
    int count = -1;
    try {
      usage = Optional.of(c.usage());
      if (c.misshapen()) {
        misshapen.add(c.owner());
      }
      count = usage.get().readSlots(slots);
      if (count < 0) {
        doubted("short");
      }
    } catch (IOException e) {
      doubted("unreadable"); // the refund round says why
    }
    for (int i = 0; i < c.devices().size(); i++) {
      Optional<Seen> seen = Optional.empty();
      if (usage.isPresent() && count >= 0) {
        seen = Optional.of(see(c, i, usage.get(), count, time[i], now));
      }
      figures.add(
          new ContainerFigure(c.container().get(), i, c.devices().get(i), time[i].ns(), seen));
    }
  }

  private Seen see(
      OpenContainer c, int device, UsageCopy usage, int count, GpuTime time, long now) {
    DeviceLoad load = c.load(device).orElse(DeviceLoad.NONE);
    GpuTime.Doubt doubt =
        time.look(now, usage.writerEpoch(), usage.rawBusyNs(device), load.refundNs());
    if (doubt != GpuTime.Doubt.NONE) {
      doubted(doubt.name().toLowerCase(Locale.ROOT));
    }
    SlotFigures figures = SlotFigures.of(slots, count, device);
    boolean idle = figures.processes() == 0; // then the driver is not asked either
    return new Seen(
        figures.usedBytes(),
        figures.virtualBytes(),
        figures.processes(),
        idle ? OptionalLong.of(0) : listings.bytes(c.owner(), device, now),
        permille(ContainerFigure.isMeasured(c.devices().get(device)), load, idle, now));
  }

  /** The last second's: not what somebody wrote before he stopped writing. */
  private static OptionalInt permille(boolean measured, DeviceLoad load, boolean idle, long now) {
    if (!measured) {
      return idle ? OptionalInt.of(0) : OptionalInt.empty();
    }
    return now - load.sampleNs() > LOAD_STALE.toNanos()
        ? OptionalInt.empty()
        : OptionalInt.of(load.containerUtilPermille());
  }

  private CardLoad load(GpuUuid card, List<ContainerFigure> all, long now, List<GpuUuid> news) {
    int sum = 0;
    int unlimited = 0;
    for (ContainerFigure f : all) {
      if (f.limits().uuid().equals(card) && f.seen().isPresent()) {
        sum += f.seen().get().permille().orElse(0);
        unlimited += !f.measured() && f.seen().get().processes() > 0 ? 1 : 0;
      }
    }
    OptionalInt permille =
        samples
            .fresh(card, now)
            .map(CardSample::utilizationPercent)
            .filter(percent -> percent >= 0 && percent <= 100)
            .map(percent -> OptionalInt.of(percent * 10))
            .orElse(OptionalInt.empty());
    LoadCheck check = checks.computeIfAbsent(card, u -> new LoadCheck());
    if (permille.isEmpty()) {
      check.pause();
    } else if (check.look(now, permille.getAsInt(), sum)) {
      news.add(card);
    }
    return new CardLoad(permille, sum, unlimited, check.unaccounted());
  }

  private void doubted(String cause) {
    AgentMeters.USAGE_DOUBTED.counter(meters, cause).increment();
  }
}
