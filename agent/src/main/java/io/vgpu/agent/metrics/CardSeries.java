package io.vgpu.agent.metrics;

import io.prometheus.metrics.model.registry.MultiCollector;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot.GaugeDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.InfoSnapshot;
import io.prometheus.metrics.model.snapshots.InfoSnapshot.InfoDataPointSnapshot;
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
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.function.Function;

/**
 * The series of the node's cards (node-agent.md 7.2), made at each scrape from the inventory and
 * the last samples: no driver call (D8). Any thread.
 */
public final class CardSeries implements MultiCollector {
  public static final String SERVICE = "vGPU";
  private static final double MIB = 1 << 20;

  private final String node;
  private final DriverInfo driver;
  private final GpuInventory inventory;
  private final CardSamples samples;

  public CardSeries(String node, DriverInfo driver, GpuInventory inventory, CardSamples samples) {
    this.node = node;
    this.driver = driver;
    this.inventory = inventory;
    this.samples = samples;
  }

  @Override
  public MetricSnapshots collect() {
    List<MetricSnapshot> all = new ArrayList<>();
    all.add(physical(AgentMeters.CARD_MEMORY_TOTAL, c -> OptionalDouble.of(c.gpu().memoryBytes())));
    all.add(physical(AgentMeters.CARD_MEMORY_USED, c -> sampled(c, CardSample::usedBytes)));
    all.add(physical(AgentMeters.CARD_MEMORY_PERCENT, c -> sampled(c, CardSeries::memoryPercent)));
    all.add(physical(AgentMeters.CARD_CORE_PERCENT, this::corePercent));
    all.add(physical(AgentMeters.CARD_HEALTH, c -> OptionalDouble.of(c.healthy() ? 1 : 0)));
    all.add(suspects());
    all.add(configuration());
    all.add(versions());
    List<GpuDevice> shared =
        inventory.published().devices().stream().filter(d -> !d.mig()).toList();
    all.add(
        ofNode(
            AgentMeters.NODE_MEMORY_TOTAL,
            shared.stream().mapToDouble(d -> d.memory() * MIB).sum()));
    all.add(
        ofNode(
            AgentMeters.NODE_MEMORY_PHYSICAL,
            shared.stream().mapToDouble(this::physicalBytes).sum()));
    all.add(virtual(AgentMeters.VGPU_CORES_TOTAL, shared, d -> (double) d.core()));
    all.add(virtual(AgentMeters.VGPU_MEMORY_TOTAL, shared, d -> d.memory() * MIB));
    all.add(virtual(AgentMeters.VGPU_MEMORY_PHYSICAL, shared, this::physicalBytes));
    return new MetricSnapshots(all);
  }

  private double physicalBytes(GpuDevice device) {
    return inventory.card(device.uuid()).map(c -> (double) c.gpu().memoryBytes()).orElse(0.0);
  }

  private OptionalDouble sampled(Card card, Function<CardSample, Long> figure) {
    Optional<CardSample> sample = samples.last(card.gpu().uuid());
    return sample.map(s -> OptionalDouble.of(figure.apply(s))).orElse(OptionalDouble.empty());
  }

  private static long memoryPercent(CardSample s) {
    return s.totalBytes() == 0 ? 0 : s.usedBytes() * 100 / s.totalBytes();
  }

  private OptionalDouble corePercent(Card card) {
    return samples
        .last(card.gpu().uuid())
        .filter(s -> !card.gpu().mig() && s.utilizationPercent() >= 0)
        .map(s -> OptionalDouble.of(s.utilizationPercent()))
        .orElse(OptionalDouble.empty());
  }

  private GaugeSnapshot physical(AgentMeters meter, Function<Card, OptionalDouble> value) {
    GaugeSnapshot.Builder gauge = gauge(meter);
    for (Card card : inventory.cards()) {
      PhysicalGpu g = card.gpu();
      value
          .apply(card)
          .ifPresent(
              v ->
                  gauge.dataPoint(
                      point(
                          v,
                          labels(
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

  private GaugeSnapshot suspects() {
    GaugeSnapshot.Builder gauge = gauge(AgentMeters.CARD_SUSPECT);
    for (Card card : inventory.cards()) {
      gauge.dataPoint(
          point(
              samples.isSuspect(card.gpu().uuid()) ? 1 : 0,
              labels(
                  AgentMeters.CARD_SUSPECT,
                  Integer.toString(card.gpu().index()),
                  card.gpu().uuid().value())));
    }
    return gauge.build();
  }

  private GaugeSnapshot virtual(
      AgentMeters meter, List<GpuDevice> devices, Function<GpuDevice, Double> value) {
    GaugeSnapshot.Builder gauge = gauge(meter);
    for (GpuDevice d : devices) {
      gauge.dataPoint(
          point(
              value.apply(d),
              labels(meter, node, Integer.toString(d.id()), d.uuid().value(), d.type())));
    }
    return gauge.build();
  }

  private GaugeSnapshot ofNode(AgentMeters meter, double value) {
    return gauge(meter).dataPoint(point(value, labels(meter, node))).build();
  }

  private InfoSnapshot configuration() {
    NodeConfig c = inventory.published().config();
    return info(
        AgentMeters.NODE_CONFIGURATION,
        node,
        Integer.toString(c.deviceSplit()),
        String.format(Locale.ROOT, "%.2f", c.coresScaling()),
        String.format(Locale.ROOT, "%.2f", c.memoryScaling()),
        Integer.toString(c.memoryFactor()));
  }

  private InfoSnapshot versions() {
    return info(
        AgentMeters.NODE_DRIVER,
        node,
        driver.driverVersion(),
        Integer.toString(driver.cudaVersion()),
        driver.nvmlVersion());
  }

  private static InfoSnapshot info(AgentMeters meter, String... values) {
    // the exposition adds the suffix again
    String name = meter.exposedName().substring(0, meter.exposedName().length() - "_info".length());
    return InfoSnapshot.builder()
        .name(name)
        .help(meter.meaning())
        .dataPoint(InfoDataPointSnapshot.builder().labels(labels(meter, values)).build())
        .build();
  }

  private static GaugeSnapshot.Builder gauge(AgentMeters meter) {
    return GaugeSnapshot.builder().name(meter.exposedName()).help(meter.meaning());
  }

  private static GaugeDataPointSnapshot point(double value, Labels labels) {
    return GaugeDataPointSnapshot.builder().value(value).labels(labels).build();
  }

  private static Labels labels(AgentMeters meter, String... values) {
    return Labels.of(meter.labels().toArray(String[]::new), values).add("service", SERVICE);
  }
}
