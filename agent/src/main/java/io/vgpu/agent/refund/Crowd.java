package io.vgpu.agent.refund;

import java.util.List;

/** How many processes have a long interval in flight, asked at times that only go on. */
final class Crowd {
  static final int CUTS = 128;

  /** Where the number changes, in order. */
  record Cuts(long[] at, int[] change, int count) {
    /**
     * Beginnings and ends of the neighbours' long intervals within {@code in}, at most {@link
     * #CUTS}.
     */
    static Cuts of(GpuModel model, Span in, List<History> others) {
      long[] at = new long[CUTS];
      int[] change = new int[CUTS];
      int n = 0;
      for (History h : others) {
        for (long k = h.firstAfter(in.start()); k < h.next() && n + 2 <= CUTS; k++) {
          if (h.start(k) >= in.end()) {
            break;
          }
          if (h.end(k) - h.start(k) <= model.briefNs()) {
            continue;
          }
          n = insert(at, change, n, Math.max(h.start(k), in.start()), 1);
          n = insert(at, change, n, Math.min(h.end(k), in.end()), -1);
        }
      }
      return new Cuts(at, change, n);
    }

    private static int insert(long[] at, int[] change, int count, long time, int by) {
      int j = count;
      for (; j > 0 && at[j - 1] > time; j--) {
        at[j] = at[j - 1];
        change[j] = change[j - 1];
      }
      at[j] = time;
      change[j] = by;
      return count + 1;
    }
  }

  private final Cuts cuts;
  private int next;
  private int size = 1; // the process itself

  Crowd(Cuts cuts) {
    this.cuts = cuts;
  }

  int sizeAt(long at) {
    for (; next < cuts.count() && cuts.at()[next] <= at; next++) {
      size += cuts.change()[next];
    }
    return size;
  }

  /**
   * Adds the time from {@code from} to {@code to} to the cells of {@code shared} by the size of the
   * crowd.
   */
  void add(long from, long to, long[] shared) {
    long position = from;
    while (position < to) {
      int here = sizeAt(position);
      long until = next < cuts.count() ? Math.min(cuts.at()[next], to) : to;
      shared[here] += until - position;
      position = until;
    }
  }
}
