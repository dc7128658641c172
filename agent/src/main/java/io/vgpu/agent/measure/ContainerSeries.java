package io.vgpu.agent.measure;

import io.prometheus.metrics.model.registry.MultiCollector;
import io.prometheus.metrics.model.snapshots.CounterSnapshot;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot;
import io.prometheus.metrics.model.snapshots.Labels;
import io.prometheus.metrics.model.snapshots.MetricSnapshot;
import io.prometheus.metrics.model.snapshots.MetricSnapshots;
import io.vgpu.agent.gpu.GpuInventory;
import io.vgpu.agent.gpu.PhysicalGpu;
import io.vgpu.agent.measure.ContainerFigure.Seen;
import io.vgpu.agent.measure.Measured.CardLoad;
import io.vgpu.agent.metrics.DeviceMeters;
import io.vgpu.agent.metrics.Meter;
import io.vgpu.agent.metrics.Series;
import io.vgpu.model.ContainerRef;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.function.Function;
import java.util.function.Predicate;

/**
 * The series of containers (node-agent.md 7.2, 7.4), made at each scrape from the last look: no
 * file is read and no driver asked (D8). A container has its series from its allocation on, before
 * it computes anything. What is not known has no series. One scrape at a time.
 */
public final class ContainerSeries implements MultiCollector {
  private static final double NANOS = 1e9;
  private static final double PERMILLE = 1000;

  private final String node;
  private final GpuInventory inventory;
  private final Measurements measurements;
  private final Predicate<ContainerRef> shown;
  private final boolean virtual;
  private Map<Key, Labels> labels = Map.of(); // of the containers seen last: making them is dear

  private record Key(ContainerRef container, int device, String card) {}

  /** A series to be. */
  private record Row(ContainerFigure figure, Labels labels) {}

  /**
   * {@code shown}: containers of pods that have not ended, and init containers while they run;
   * {@code virtual}: managed memory is shown (gate VirtualMemoryTracking).
   */
  public ContainerSeries(
      String node,
      GpuInventory inventory,
      Measurements measurements,
      Predicate<ContainerRef> shown,
      boolean virtual) {
    this.node = node;
    this.inventory = inventory;
    this.measurements = measurements;
    this.shown = shown;
    this.virtual = virtual;
  }

  @Override
  public synchronized MetricSnapshots collect() {
    Measured measured = measurements.last();
    List<Row> rows = rows(measured);
    List<MetricSnapshot> all = new ArrayList<>();
    all.add(of(DeviceMeters.CONTAINER_MEMORY_LIMIT, rows, f -> some(f.limits().memLimit())));
    all.add(
        of(
            DeviceMeters.CONTAINER_MEMORY_LIMIT_PHYSICAL,
            rows,
            f -> some(f.limits().memPhysical())));
    all.add(of(DeviceMeters.CONTAINER_MEMORY_USED, rows, f -> seen(f, s -> some(used(s)))));
    all.add(of(DeviceMeters.CONTAINER_MEMORY_PHYSICAL, rows, f -> seen(f, this::listed)));
    all.add(of(DeviceMeters.CONTAINER_MEMORY_PERCENT, rows, this::memoryPercent));
    all.add(of(DeviceMeters.CONTAINER_CORE_PERCENT, rows, f -> gpu(f, 10)));
    all.add(of(DeviceMeters.BASE_CONTAINER_LIMIT, rows, f -> some(f.limits().memLimit())));
    all.add(
        of(DeviceMeters.BASE_CONTAINER_LIMIT_PHYSICAL, rows, f -> some(f.limits().memPhysical())));
    all.add(of(DeviceMeters.BASE_CONTAINER_MEMORY, rows, f -> seen(f, s -> some(s.usedBytes()))));
    if (virtual) {
      all.add(
          of(DeviceMeters.BASE_CONTAINER_VIRTUAL, rows, f -> seen(f, s -> some(s.virtualBytes()))));
    }
    all.add(of(DeviceMeters.BASE_CONTAINER_LISTED, rows, f -> seen(f, this::listed)));
    all.add(of(DeviceMeters.BASE_CONTAINER_GPU, rows, f -> gpu(f, PERMILLE)));
    all.add(
        of(
            DeviceMeters.BASE_CONTAINER_GPU_LIMIT,
            rows,
            f -> some(f.limits().coreHardPermille() / PERMILLE)));
    all.add(
        of(DeviceMeters.BASE_CONTAINER_PROCESSES, rows, f -> seen(f, s -> some(s.processes()))));
    all.add(seconds(rows));
    cards(measured, all);
    return new MetricSnapshots(all);
  }

  private List<Row> rows(Measured measured) {
    Map<Key, Labels> present = new HashMap<>();
    List<Row> rows = new ArrayList<>();
    for (ContainerFigure f : measured.containers()) {
      if (shown.test(f.container())) {
        Key key = new Key(f.container(), f.device(), f.limits().uuid().value());
        Labels its = labels.get(key);
        if (its == null) {
          its =
              Series.labels(
                  DeviceMeters.CONTAINER_MEMORY_LIMIT,
                  f.container().pod().namespace(),
                  f.container().pod().name(),
                  f.container().container(),
                  Integer.toString(f.device()),
                  f.limits().uuid().value(),
                  node);
        }
        // a pod that was replaced under its name may have files for a while: one series, not two
        if (present.putIfAbsent(key, its) == null) {
          rows.add(new Row(f, its));
        }
      }
    }
    labels = present;
    return rows;
  }

  private static GaugeSnapshot of(
      Meter meter, List<Row> rows, Function<ContainerFigure, OptionalDouble> value) {
    GaugeSnapshot.Builder gauge = Series.gauge(meter);
    for (Row row : rows) {
      OptionalDouble v = value.apply(row.figure());
      if (v.isPresent()) {
        gauge.dataPoint(Series.point(v.getAsDouble(), row.labels()));
      }
    }
    return gauge.build();
  }

  private static OptionalDouble some(double value) {
    return OptionalDouble.of(value);
  }

  private static OptionalDouble seen(ContainerFigure f, Function<Seen, OptionalDouble> value) {
    return f.seen().isEmpty() ? OptionalDouble.empty() : value.apply(f.seen().get());
  }

  private double used(Seen seen) {
    return seen.usedBytes() + (virtual ? seen.virtualBytes() : 0);
  }

  private OptionalDouble listed(Seen seen) {
    return seen.listedBytes().isEmpty()
        ? OptionalDouble.empty()
        : some(seen.listedBytes().getAsLong());
  }

  private OptionalDouble memoryPercent(ContainerFigure f) {
    long limit = f.limits().memLimit();
    return limit == 0
        ? OptionalDouble.empty()
        : seen(f, s -> some(Math.min(100, Math.floor(used(s) * 100 / limit))));
  }

  private static OptionalDouble gpu(ContainerFigure f, double divisor) {
    return seen(
        f,
        s ->
            s.permille().isEmpty()
                ? OptionalDouble.empty()
                : some(Math.min(s.permille().getAsInt(), (int) PERMILLE) / divisor));
  }

  private static CounterSnapshot seconds(List<Row> rows) {
    CounterSnapshot.Builder counter = Series.counter(DeviceMeters.BASE_CONTAINER_GPU_SECONDS);
    rows.stream()
        .filter(r -> r.figure().measured())
        .forEach(r -> counter.dataPoint(Series.count(r.figure().gpuNs() / NANOS, r.labels())));
    return counter.build();
  }

  private void cards(Measured measured, List<MetricSnapshot> all) {
    all.add(
        ofCards(
            DeviceMeters.BASE_CARD_CONTAINERS, measured, l -> l.containersPermille() / PERMILLE));
    all.add(ofCards(DeviceMeters.BASE_CARD_UNLIMITED, measured, l -> (double) l.unlimited()));
    all.add(
        ofCards(DeviceMeters.BASE_CARD_UNACCOUNTED, measured, l -> l.unaccounted() ? 1.0 : 0.0));
  }

  private GaugeSnapshot ofCards(Meter meter, Measured measured, Function<CardLoad, Double> value) {
    GaugeSnapshot.Builder gauge = Series.gauge(meter);
    for (GpuInventory.Card card : inventory.cards()) {
      PhysicalGpu gpu = card.gpu();
      CardLoad load = measured.cards().get(gpu.uuid());
      if (load != null) {
        gauge.dataPoint(
            Series.point(
                value.apply(load),
                Series.labels(meter, node, Integer.toString(gpu.index()), gpu.uuid().value())));
      }
    }
    return gauge.build();
  }
}
