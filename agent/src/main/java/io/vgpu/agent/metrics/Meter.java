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

  /**
   * What is documented of it.
   *
   * @param exposedName the name in a scrape; a timer's is followed by {@code _count}, {@code _sum},
   *     {@code _max}
   * @param labels label keys, beside {@code service="vGPU"}, which every series carries
   */
  record Family(String exposedName, Kind kind, List<String> labels, String meaning) {}

  Family family();

  default String exposedName() {
    return family().exposedName();
  }

  default Kind kind() {
    return family().kind();
  }

  default List<String> labels() {
    return family().labels();
  }

  default String meaning() {
    return family().meaning();
  }
}
