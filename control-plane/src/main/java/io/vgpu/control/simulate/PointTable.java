package io.vgpu.control.simulate;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** The results in words for people and for programs. Pure. */
public final class PointTable {
  private static final List<Integer> SHOWN = List.of(50, 80, 90, 95, 100, 110, 120);

  private PointTable() {}

  /** A list of {@code policy, seed, arrived_percent, allocated_percent, fragmented_percent}. */
  public static String json(List<Point> points) {
    StringBuilder text = new StringBuilder("[");
    String separator = "\n";
    for (Point p : points) {
      text.append(separator)
          .append(
              String.format(
                  Locale.ROOT,
                  "{\"policy\": \"%s\", \"seed\": %d, \"arrived_percent\": %.3f,"
                      + " \"allocated_percent\": %.3f, \"fragmented_percent\": %.3f}",
                  p.policy(),
                  p.seed(),
                  p.arrived(),
                  p.allocated(),
                  p.fragmented()));
      separator = ",\n";
    }
    return text.append("\n]\n").toString();
  }

  /** The same as comma-separated values. */
  public static String csv(List<Point> points) {
    StringBuilder text =
        new StringBuilder("policy,seed,arrived_percent,allocated_percent,fragmented_percent\n");
    for (Point p : points) {
      text.append(
          String.format(
              Locale.ROOT,
              "%s,%d,%.3f,%.3f,%.3f%n",
              p.policy(),
              p.seed(),
              p.arrived(),
              p.allocated(),
              p.fragmented()));
    }
    return text.toString();
  }

  /** The mean over seeds, and the least and most, at a few loads. */
  public static String table(List<Point> points) {
    StringBuilder text =
        new StringBuilder(
            String.format(
                Locale.ROOT,
                "%-14s %9s %11s %19s %12s%n",
                "policy",
                "arrived %",
                "allocated %",
                "[least, most]",
                "fragmented %"));
    byPolicy(points)
        .forEach(
            (policy, all) -> {
              List<Integer> loads = new ArrayList<>(SHOWN);
              int last = all.stream().mapToInt(PointTable::percent).max().orElse(0);
              loads.removeIf(l -> l >= last);
              loads.add(last);
              loads.forEach(load -> row(text, policy, load, all));
            });
    return text.toString();
  }

  private static void row(StringBuilder text, String policy, int load, List<Point> all) {
    List<Point> here = all.stream().filter(p -> percent(p) == load).toList();
    if (here.isEmpty()) {
      return;
    }
    var allocated = here.stream().mapToDouble(Point::allocated).summaryStatistics();
    text.append(
        String.format(
            Locale.ROOT,
            "%-14s %9d %11.2f %19s %12.2f%n",
            policy,
            load,
            allocated.getAverage(),
            String.format(Locale.ROOT, "[%.2f, %.2f]", allocated.getMin(), allocated.getMax()),
            here.stream().mapToDouble(Point::fragmented).average().orElse(0)));
  }

  private static int percent(Point p) {
    return (int) Math.round(p.arrived());
  }

  static Map<String, List<Point>> byPolicy(List<Point> points) {
    Map<String, List<Point>> by = new LinkedHashMap<>();
    points.forEach(p -> by.computeIfAbsent(p.policy(), x -> new ArrayList<>()).add(p));
    return by;
  }
}
