package io.vgpu.control.simulate;

import java.util.ArrayList;
import java.util.List;

/** Of many moments, the one nearest to each whole percent of arrived load. Pure. */
final class Percents {
  private Percents() {}

  /** {@code moments}: in order; what has arrived never becomes less. */
  static List<Point> of(List<Point> moments) {
    List<Point> kept = new ArrayList<>();
    int at = 0;
    for (int percent = 0; at < moments.size(); percent++) {
      while (at + 1 < moments.size() && nearer(moments.get(at + 1), moments.get(at), percent)) {
        at++;
      }
      kept.add(moments.get(at));
      if (moments.getLast().arrived() < percent + 0.5) {
        return kept;
      }
    }
    return kept;
  }

  private static boolean nearer(Point next, Point now, int percent) {
    return Math.abs(next.arrived() - percent) <= Math.abs(now.arrived() - percent);
  }
}
