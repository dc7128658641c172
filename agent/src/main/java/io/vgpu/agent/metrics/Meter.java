package io.vgpu.agent.metrics;

import java.util.List;

/** One family of series, as documented. */
public interface Meter {
  /** What kind of series it is. */
  enum Kind {
    COUNTER,
    GAUGE,
    TIMER,
    INFO
  }

  /** The name in a scrape; a timer's is followed by {@code _count}, {@code _sum}, {@code _max}. */
  String exposedName();

  Kind kind();

  /** Label keys, beside {@code service="vGPU"}, which every series carries. */
  List<String> labels();

  String meaning();
}
