package io.vgpu.agent.metrics;

import io.prometheus.metrics.model.registry.MultiCollector;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot;
import io.prometheus.metrics.model.snapshots.InfoSnapshot;
import io.prometheus.metrics.model.snapshots.Labels;
import io.prometheus.metrics.model.snapshots.MetricSnapshot;
import io.prometheus.metrics.model.snapshots.MetricSnapshots;
import io.vgpu.agent.gpu.CardSample;
import io.vgpu.agent.gpu.CardSamples;
import io.vgpu.agent.gpu.DriverInfo;
import io.vgpu.agent.gpu.GpuInventory;
import io.vgpu.agent.gpu.GpuInventory.Card;
import io.vgpu.agent.gpu.PhysicalGpu;
import io.vgpu.model.GpuDevice;
import io.vgpu.model.NodeConfig;
import io.vgpu.runtime.Version;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.function.Function;
import java.util.function.LongSupplier;

/**
 * The series of the node's cards (node-agent.md 7.2), made at each scrape from the inventory and
 * the last samples: no driver call (D8). Any thread.
 */
public final class CardSeries implements MultiCollector {
  private static final double MIB = 1 << 20;

  private final String node;
  private final DriverInfo driver;
  private final GpuInventory inventory;
  private final CardSamples samples;
  private final LongSupplier nanoTime;

  /** {@code nanoTime}: the clock of the samples. */
  public CardSeries(
      String node,
      DriverInfo driver,
      GpuInventory inventory,
      CardSamples samples,
      LongSupplier nanoTime) {
    this.nanoTime = nanoTime;
    this.node = node;
    this.driver = driver;
    this.inventory = inventory;
    this.samples = samples;
  }

  @Override
  public MetricSnapshots collect() {
    List<MetricSnapshot> all = new ArrayList<>();
    all.add(
        physical(DeviceMeters.CARD_MEMORY_TOTAL, c -> OptionalDouble.of(c.gpu().memoryBytes())));
    all.add(physical(DeviceMeters.CARD_MEMORY_USED, c -> sampled(c, CardSample::usedBytes)));
    all.add(physical(DeviceMeters.CARD_MEMORY_PERCENT, c -> sampled(c, CardSeries::memoryPercent)));
    all.add(physical(DeviceMeters.CARD_CORE_PERCENT, this::corePercent));
    all.add(physical(DeviceMeters.CARD_HEALTH, c -> OptionalDouble.of(c.healthy() ? 1 : 0)));
    all.add(base(DeviceMeters.BASE_CARD_MEMORY, c -> OptionalDouble.of(c.gpu().memoryBytes())));
    all.add(base(DeviceMeters.BASE_CARD_MEMORY_USED, c -> sampled(c, CardSample::usedBytes)));
    all.add(base(DeviceMeters.BASE_CARD_GPU, this::ratio));
    all.add(base(DeviceMeters.BASE_CARD_HEALTHY, c -> OptionalDouble.of(c.healthy() ? 1 : 0)));
    all.add(
        base(
            AgentMeters.CARD_SUSPECT,
            c -> OptionalDouble.of(samples.isSuspect(c.gpu().uuid()) ? 1 : 0)));
    all.add(configuration());
    all.add(versions());
    all.add(
        Series.info(
            DeviceMeters.BUILD_INFO, node, Version.current(), "", "", Version.platform(), ""));
    List<GpuDevice> shared =
        inventory.published().devices().stream().filter(d -> !d.mig()).toList();
    all.add(
        ofNode(
            DeviceMeters.NODE_MEMORY_TOTAL,
            shared.stream().mapToDouble(d -> d.memory() * MIB).sum()));
    all.add(
        ofNode(
            DeviceMeters.NODE_MEMORY_PHYSICAL,
            shared.stream().mapToDouble(this::physicalBytes).sum()));
    all.add(virtual(DeviceMeters.VGPU_CORES_TOTAL, shared, d -> (double) d.core()));
    all.add(virtual(DeviceMeters.VGPU_MEMORY_TOTAL, shared, d -> d.memory() * MIB));
    all.add(virtual(DeviceMeters.VGPU_MEMORY_PHYSICAL, shared, this::physicalBytes));
    return new MetricSnapshots(all);
  }

  private double physicalBytes(GpuDevice device) {
    return inventory.card(device.uuid()).map(c -> (double) c.gpu().memoryBytes()).orElse(0.0);
  }

  private OptionalDouble sampled(Card card, Function<CardSample, Long> figure) {
    Optional<CardSample> sample = last(card);
    return sample.map(s -> OptionalDouble.of(figure.apply(s))).orElse(OptionalDouble.empty());
  }

  /** None of a card that answers no more. */
  private Optional<CardSample> last(Card card) {
    return samples.fresh(card.gpu().uuid(), nanoTime.getAsLong());
  }

  private static long memoryPercent(CardSample s) {
    return s.totalBytes() == 0 ? 0 : s.usedBytes() * 100 / s.totalBytes();
  }

  private OptionalDouble corePercent(Card card) {
    return last(card)
        .filter(s -> !card.gpu().mig() && s.utilizationPercent() >= 0)
        .map(s -> OptionalDouble.of(s.utilizationPercent()))
        .orElse(OptionalDouble.empty());
  }

  private GaugeSnapshot physical(Meter meter, Function<Card, OptionalDouble> value) {
    GaugeSnapshot.Builder gauge = Series.gauge(meter);
    for (Card card : inventory.cards()) {
      PhysicalGpu g = card.gpu();
      value
          .apply(card)
          .ifPresent(
              v ->
                  gauge.dataPoint(
                      Series.point(
                          v,
                          Series.labels(
                              meter,
                              node,
                              Integer.toString(g.index()),
                              g.uuid().value(),
                              g.name(),
                              g.busId(),
                              Integer.toString(g.minor()),
                              Boolean.toString(g.mig()),
                              Float.toString(g.capability()),
                              g.numa() < 0 ? "" : Integer.toString(g.numa())))));
    }
    return gauge.build();
  }

  private OptionalDouble ratio(Card card) {
    OptionalDouble percent = corePercent(card);
    return percent.isEmpty() ? percent : OptionalDouble.of(percent.getAsDouble() / 100);
  }

  private GaugeSnapshot base(Meter meter, Function<Card, OptionalDouble> value) {
    GaugeSnapshot.Builder gauge = Series.gauge(meter);
    for (Card card : inventory.cards()) {
      String index = Integer.toString(card.gpu().index());
      String uuid = card.gpu().uuid().value();
      Labels labels =
          meter.labels().contains("node")
              ? Series.labels(meter, node, index, uuid)
              : Series.labels(meter, index, uuid);
      value.apply(card).ifPresent(v -> gauge.dataPoint(Series.point(v, labels)));
    }
    return gauge.build();
  }

  private GaugeSnapshot virtual(
      Meter meter, List<GpuDevice> devices, Function<GpuDevice, Double> value) {
    GaugeSnapshot.Builder gauge = Series.gauge(meter);
    for (GpuDevice d : devices) {
      gauge.dataPoint(
          Series.point(
              value.apply(d),
              Series.labels(meter, node, Integer.toString(d.id()), d.uuid().value(), d.type())));
    }
    return gauge.build();
  }

  private GaugeSnapshot ofNode(Meter meter, double value) {
    return Series.gauge(meter).dataPoint(Series.point(value, Series.labels(meter, node))).build();
  }

  private InfoSnapshot configuration() {
    NodeConfig c = inventory.published().config();
    return Series.info(
        DeviceMeters.NODE_CONFIGURATION,
        node,
        Integer.toString(c.deviceSplit()),
        String.format(Locale.ROOT, "%.2f", c.coresScaling()),
        String.format(Locale.ROOT, "%.2f", c.memoryScaling()),
        Integer.toString(c.memoryFactor()));
  }

  private InfoSnapshot versions() {
    return Series.info(
        DeviceMeters.NODE_DRIVER,
        node,
        driver.driverVersion(),
        Integer.toString(driver.cudaVersion()),
        driver.nvmlVersion());
  }
}
