package io.vgpu.agent.measure;

import io.prometheus.metrics.model.registry.MultiCollector;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot;
import io.prometheus.metrics.model.snapshots.InfoSnapshot;
import io.prometheus.metrics.model.snapshots.MetricSnapshots;
import io.vgpu.agent.gpu.CardSample;
import io.vgpu.agent.gpu.CardSamples;
import io.vgpu.agent.gpu.GpuInventory;
import io.vgpu.agent.gpu.PhysicalGpu;
import io.vgpu.agent.gpu.PhysicalGpu.MigDevice;
import io.vgpu.agent.kube.NodePod;
import io.vgpu.agent.kubelet.KubeletCheckpoint.Holder;
import io.vgpu.agent.metrics.DeviceMeters;
import io.vgpu.agent.metrics.Meter;
import io.vgpu.agent.metrics.Series;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/**
 * The series of MIG slices (node-agent.md 7.2) from the last samples and from what the kubelet gave
 * whom: the driver is not asked and nothing enumerated. Any thread.
 */
public final class MigSeries implements MultiCollector {
  private final String node;
  private final GpuInventory inventory;
  private final CardSamples samples;
  private final LongSupplier nanoTime;
  private final Supplier<Map<String, Holder>> holders;
  private final Function<String, Optional<NodePod>> pods;

  /** {@code holders}: by slice; {@code pods}: by UID. */
  public MigSeries(
      String node,
      GpuInventory inventory,
      CardSamples samples,
      LongSupplier nanoTime,
      Supplier<Map<String, Holder>> holders,
      Function<String, Optional<NodePod>> pods) {
    this.node = node;
    this.inventory = inventory;
    this.samples = samples;
    this.nanoTime = nanoTime;
    this.holders = holders;
    this.pods = pods;
  }

  @Override
  public MetricSnapshots collect() {
    return new MetricSnapshots(
        figures(DeviceMeters.MIG_MEMORY_TOTAL, s -> OptionalDouble.of(s.totalBytes())),
        figures(DeviceMeters.MIG_MEMORY_USED, s -> OptionalDouble.of(s.usedBytes())),
        figures(
            DeviceMeters.MIG_MEMORY_PERCENT,
            s ->
                s.totalBytes() <= 0
                    ? OptionalDouble.empty()
                    : OptionalDouble.of(Math.min(100, s.usedBytes() * 100 / s.totalBytes()))),
        allocations());
  }

  private GaugeSnapshot figures(Meter meter, Function<CardSample, OptionalDouble> value) {
    GaugeSnapshot.Builder gauge = Series.gauge(meter);
    long now = nanoTime.getAsLong();
    for (GpuInventory.Card card : inventory.cards()) {
      for (MigDevice slice : card.gpu().migDevices()) {
        samples
            .fresh(slice.uuid(), now)
            .map(value)
            .filter(OptionalDouble::isPresent)
            .ifPresent(
                v ->
                    gauge.dataPoint(
                        Series.point(
                            v.getAsDouble(),
                            Series.labels(
                                meter,
                                node,
                                Integer.toString(card.gpu().index()),
                                slice.uuid().value(),
                                card.gpu().uuid().value(),
                                Integer.toString(slice.computeInstance()),
                                Integer.toString(slice.gpuInstance()),
                                slice.profile()))));
      }
    }
    return gauge.build();
  }

  private InfoSnapshot allocations() {
    Map<String, Holder> now = holders.get();
    InfoSnapshot.Builder info = Series.infos(DeviceMeters.MIG_ALLOCATION);
    for (GpuInventory.Card card : inventory.cards()) {
      for (MigDevice slice : card.gpu().migDevices()) {
        Holder holder = now.get(slice.uuid().value());
        if (holder != null) {
          pods.apply(holder.podUid())
              .filter(pod -> !pod.terminal())
              .ifPresent(
                  pod ->
                      info.dataPoint(
                          Series.one(
                              DeviceMeters.MIG_ALLOCATION,
                              labels(card.gpu(), slice, pod, holder))));
        }
      }
    }
    return info.build();
  }

  private String[] labels(PhysicalGpu card, MigDevice slice, NodePod pod, Holder holder) {
    return new String[] {
      node,
      Integer.toString(card.index()),
      slice.uuid().value(),
      card.uuid().value(),
      pod.ref().namespace(),
      pod.ref().name(),
      holder.container()
    };
  }
}
