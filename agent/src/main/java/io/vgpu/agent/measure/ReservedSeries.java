package io.vgpu.agent.measure;

import io.prometheus.metrics.model.registry.MultiCollector;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot;
import io.prometheus.metrics.model.snapshots.MetricSnapshot;
import io.prometheus.metrics.model.snapshots.MetricSnapshots;
import io.vgpu.agent.gpu.GpuInventory;
import io.vgpu.agent.measure.Reservations.Reserved;
import io.vgpu.agent.metrics.DeviceMeters;
import io.vgpu.agent.metrics.Meter;
import io.vgpu.agent.metrics.Series;
import io.vgpu.model.GpuDevice;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import java.util.function.ToDoubleFunction;

/** The series of what is reserved (node-agent.md 7.2, 7.3), without MIG cards. Any thread. */
public final class ReservedSeries implements MultiCollector {
  private static final double MIB = 1 << 20;

  private final String node;
  private final GpuInventory inventory;
  private final Supplier<Reserved> reserved;

  /** {@code reserved}: as last counted. */
  public ReservedSeries(String node, GpuInventory inventory, Supplier<Reserved> reserved) {
    this.node = node;
    this.inventory = inventory;
    this.reserved = reserved;
  }

  @Override
  public MetricSnapshots collect() {
    Reserved now = reserved.get();
    double scaling = Math.max(1, inventory.published().config().memoryScaling());
    List<GpuDevice> cards = inventory.published().devices().stream().filter(d -> !d.mig()).toList();
    ToDoubleFunction<GpuDevice> bytes = d -> now.of(d.uuid()).memory() * MIB;
    ToDoubleFunction<GpuDevice> physical = d -> bytes.applyAsDouble(d) / scaling;
    List<MetricSnapshot> all = new ArrayList<>();
    all.add(ofNode(DeviceMeters.NODE_MEMORY_ASSIGNED, cards, bytes));
    all.add(ofNode(DeviceMeters.NODE_MEMORY_ASSIGNED_PHYSICAL, cards, physical));
    all.add(ofCards(DeviceMeters.VGPU_CORES_ASSIGNED, cards, d -> now.of(d.uuid()).cores()));
    all.add(ofCards(DeviceMeters.VGPU_SHARED_PEAK, cards, d -> now.of(d.uuid()).slots()));
    all.add(
        ofCards(DeviceMeters.VGPU_SHARED_NOW, cards, d -> now.running().getOrDefault(d.uuid(), 0)));
    all.add(ofCards(DeviceMeters.VGPU_MEMORY_ASSIGNED, cards, bytes));
    all.add(ofCards(DeviceMeters.VGPU_MEMORY_ASSIGNED_PHYSICAL, cards, physical));
    all.add(ofCards(DeviceMeters.BASE_CARD_RESERVED_SLOTS, cards, d -> now.of(d.uuid()).slots()));
    all.add(
        ofCards(
            DeviceMeters.BASE_CARD_RESERVED_CORES, cards, d -> now.of(d.uuid()).cores() / 100.0));
    all.add(ofCards(DeviceMeters.BASE_CARD_RESERVED_MEMORY, cards, bytes));
    return new MetricSnapshots(all);
  }

  private GaugeSnapshot ofNode(
      Meter meter, List<GpuDevice> cards, ToDoubleFunction<GpuDevice> value) {
    double sum = cards.stream().mapToDouble(value).sum();
    return Series.gauge(meter).dataPoint(Series.point(sum, Series.labels(meter, node))).build();
  }

  private GaugeSnapshot ofCards(
      Meter meter, List<GpuDevice> cards, ToDoubleFunction<GpuDevice> value) {
    boolean typed = meter.labels().contains("device_type");
    GaugeSnapshot.Builder gauge = Series.gauge(meter);
    for (GpuDevice d : cards) {
      String index = Integer.toString(d.id());
      gauge.dataPoint(
          Series.point(
              value.applyAsDouble(d),
              typed
                  ? Series.labels(meter, node, index, d.uuid().value(), d.type())
                  : Series.labels(meter, node, index, d.uuid().value())));
    }
    return gauge.build();
  }
}
