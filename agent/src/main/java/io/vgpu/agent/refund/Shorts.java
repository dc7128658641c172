package io.vgpu.agent.refund;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** The neighbours' short intervals that overlap a span, in order of time, at most {@link #MOST}. */
final class Shorts {
  static final int MOST = 4096;

  private final GpuModel model;
  private final List<History> others;
  private final long end;
  private final long[] at;
  private int seen;

  Shorts(GpuModel model, Span span, List<History> others) {
    this.model = model;
    this.others = others;
    this.end = span.end();
    this.at = others.stream().mapToLong(h -> h.firstAfter(span.start())).toArray();
  }

  @Nullable Span next() {
    if (seen == MOST) {
      return null;
    }
    int best = -1;
    long bestStart = 0;
    for (int i = 0; i < at.length; i++) {
      History h = others.get(i);
      while (at[i] < h.next() && h.end(at[i]) - h.start(at[i]) > model.briefNs()) {
        at[i]++;
      }
      if (at[i] == h.next() || h.start(at[i]) >= end) {
        continue;
      }
      if (best < 0 || h.start(at[i]) < bestStart) {
        best = i;
        bestStart = h.start(at[i]);
      }
    }
    if (best < 0) {
      return null;
    }
    seen++;
    long n = at[best]++;
    return new Span(others.get(best).start(n), others.get(best).end(n));
  }
}
