package io.vgpu.agent.metrics;

import io.prometheus.metrics.model.snapshots.CounterSnapshot;
import io.prometheus.metrics.model.snapshots.CounterSnapshot.CounterDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot.GaugeDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.InfoSnapshot;
import io.prometheus.metrics.model.snapshots.InfoSnapshot.InfoDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.Labels;

/** Makes snapshots of documented families. Any thread. */
public final class Series {
  /** The constant label of every series. */
  public static final String SERVICE = "vGPU";

  private Series() {}

  /** A family to be filled. */
  public static GaugeSnapshot.Builder gauge(Meter meter) {
    return GaugeSnapshot.builder().name(meter.exposedName()).help(meter.meaning());
  }

  /** A family to be filled. */
  public static CounterSnapshot.Builder counter(Meter meter) {
    return CounterSnapshot.builder()
        .name(without(meter.exposedName(), "_total"))
        .help(meter.meaning());
  }

  /** A family of one series that is always 1. */
  public static InfoSnapshot info(Meter meter, String... values) {
    return infos(meter).dataPoint(one(meter, values)).build();
  }

  /** A family to be filled, of series that are always 1. */
  public static InfoSnapshot.Builder infos(Meter meter) {
    return InfoSnapshot.builder().name(without(meter.exposedName(), "_info")).help(meter.meaning());
  }

  /** One series that is always 1. */
  public static InfoDataPointSnapshot one(Meter meter, String... values) {
    return InfoDataPointSnapshot.builder().labels(labels(meter, values)).build();
  }

  /** One series. */
  public static GaugeDataPointSnapshot point(double value, Labels labels) {
    return new GaugeDataPointSnapshot(value, labels, null);
  }

  /** One series. */
  public static CounterDataPointSnapshot count(double value, Labels labels) {
    return new CounterDataPointSnapshot(value, labels, null, 0);
  }

  /** The values of a family's labels, in its order. */
  public static Labels labels(Meter meter, String... values) {
    return Labels.of(meter.labels().toArray(String[]::new), values).add("service", SERVICE);
  }

  /** The exposition adds the suffix again. */
  private static String without(String name, String suffix) {
    return name.substring(0, name.length() - suffix.length());
  }
}
