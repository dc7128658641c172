package io.vgpu.agent;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Supplier;

/** What the process still waits for, told by its parts; any thread. */
final class Readiness {
  private final List<Supplier<List<String>>> parts = new CopyOnWriteArrayList<>();
  private volatile boolean started;

  /** Asks this part too. */
  void ask(Supplier<List<String>> missing) {
    parts.add(missing);
  }

  /** Every part has been asked to start. */
  void started() {
    started = true;
  }

  /** Empty when ready. */
  List<String> missing() {
    List<String> missing = new ArrayList<>();
    if (!started) {
      missing.add("start");
    }
    parts.forEach(p -> missing.addAll(p.get()));
    return missing;
  }
}
