package io.vgpu.e2e.scale;

import java.util.regex.Pattern;

/** Sums samples of a Prometheus text. Pure. */
final class MetricText {
  private final String text;

  MetricText(String text) {
    this.text = text;
  }

  /** The sum of the samples of a name whose labels match, 0 where there is none. */
  double sum(String name, String labels) {
    Pattern wanted = Pattern.compile(labels);
    return text.lines()
        .filter(l -> l.startsWith(name + "{") || l.startsWith(name + " "))
        .filter(l -> wanted.matcher(l).find())
        .mapToDouble(l -> Double.parseDouble(l.substring(l.lastIndexOf(' ') + 1)))
        .sum();
  }
}
