package io.vgpu.agent.refund;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a process had of an interval of a time slice or two, in which interruptions can be counted:
 * the Java side of {@code brief.c}, which says how. Pure; looks at a bounded number of intervals.
 */
final class BriefShare {
  /** No pause: events are not more exact. */
  private static final long STRAIGHT_NS = 50_000;

  private static final int NEIGHBOURS = 128;

  private final GpuModel model;
  private final Span in;
  private final boolean fresh;
  private final List<History> others;
  private int looks = Shorts.MOST;

  private BriefShare(GpuModel model, Span in, boolean fresh, List<History> others) {
    this.model = model;
    this.in = in;
    this.fresh = fresh;
    this.others = others;
  }

  /**
   * What one neighbour had of the interval.
   *
   * @param ns 0: nothing
   * @param times how often the card went to it
   * @param whole it may have been in flight all the time: a time slice at each interruption
   */
  private record Visit(long ns, int times, boolean whole) {}

  static IntervalShare of(
      GpuModel model, Span interval, long earnedNs, boolean fresh, List<History> others) {
    long length = interval.length();
    long change = model.changeNs();
    long own = length;
    long lost = 0;
    int turns = 0;
    int slices = 0;
    for (Visit visit : new BriefShare(model, interval, fresh, others).visits()) {
      int rounds = Math.max(visit.times, turns);
      long switches = change * (visit.times + rounds - turns);
      if (own - visit.ns - switches < Rest.LEAST_OWN_NS) {
        break;
      }
      own -= visit.ns + switches;
      lost += switches;
      turns = rounds;
      slices += visit.whole ? 1 : 0;
    }
    long switches = change * (slices + 1);
    long round = switches + model.turnNs() * slices;
    while (slices > 0
        && turns < Rest.MOST_ROUNDS
        && own > model.turnNs() * (turns + 1)
        && own - round >= Rest.LEAST_OWN_NS) {
      own -= round;
      lost += switches;
      turns++;
    }
    if (turns == 0 || earnedNs + own < model.turnPriceNs() * turns) {
      return new IntervalShare(length, 0, 0, 0);
    }
    long refund = Math.min(length - own, length * IntervalShare.MOST_PERCENT / 100);
    return new IntervalShare(length - refund, refund, Math.min(lost, refund), turns);
  }

  /** In order of what they had: who was there for less is surer to have been there. */
  private List<Visit> visits() {
    List<Visit> visits = new ArrayList<>();
    for (int i = 0; i < others.size() && visits.size() < NEIGHBOURS; i++) {
      Visit visit = visitOf(i);
      if (visit.ns == 0) {
        continue;
      }
      int j = visits.size();
      while (j > 0 && visits.get(j - 1).ns > visit.ns) {
        j--;
      }
      visits.add(j, visit);
    }
    return visits;
  }

  private Visit visitOf(int neighbour) {
    History h = others.get(neighbour);
    long ns = 0;
    int times = 0;
    boolean whole = false;
    long k = h.firstAfter(in.start());
    @Nullable Span s = spanOf(h, k, in.end());
    while (s != null) {
      long start = s.start();
      long end = s.end();
      long own = 0;
      while (s != null && s.start() - end <= STRAIGHT_NS) {
        end = s.end();
        own += Rest.of(model, s.length(), 1).own();
        k++;
        s = spanOf(h, k, in.end());
      }
      long had = hadIn(new Span(start, end), own, neighbour);
      if (had != 0) {
        ns += had;
        times++;
        whole |= start < in.start() && end > in.end();
      }
    }
    return new Visit(ns, times, whole);
  }

  /** The neighbour's interval, if it begins before {@code end} and there are looks left. */
  private @Nullable Span spanOf(History h, long k, long end) {
    if (k == h.next() || h.start(k) >= end || looks == 0) {
      return null;
    }
    looks--;
    return new Span(h.start(k), h.end(k));
  }

  /**
   * Of the process's interval, what a neighbour had by a run of its own, that is, by intervals
   * without a pause between them.
   */
  private long hadIn(Span run, long own, int neighbour) {
    long turn = model.turnNs();
    long change = model.changeNs();
    boolean before = run.start() < in.start();
    boolean after = run.end() > in.end();
    if (!before && !after) {
      return own;
    }
    if (before && after) {
      return turn;
    }
    Span overlap = new Span(Math.max(run.start(), in.start()), Math.min(run.end(), in.end()));
    long length = overlap.length();
    if (after && length < turn) {
      return 0;
    }
    length -= between(overlap, neighbour);
    if (after) {
      return turn * alternate(length);
    }
    if (length < turn) {
      return Math.max(length - change, 0) / 2; // the process's own turn was not over
    }
    long ours = alternate(length);
    return Math.max(length - change * (2 * ours - 1) - turn * ours + (fresh ? 0 : turn / 2), 0);
  }

  /**
   * Turns of one of two that alternate for so long: one, three, five time slices hold one, two,
   * three of it.
   */
  private long alternate(long ns) {
    return Math.max((2 * ns + 3 * model.turnNs()) / (4 * model.turnNs()), 1);
  }

  /**
   * Of the neighbours but one, what began and ended between the two times, and the changes to it.
   */
  private long between(Span time, int but) {
    long sum = 0;
    for (int i = 0; i < others.size(); i++) {
      if (i == but) {
        continue;
      }
      History h = others.get(i);
      long k = h.firstAfter(time.start());
      for (Span s = spanOf(h, k, time.end());
          s != null && s.end() <= time.end();
          s = spanOf(h, ++k, time.end())) {
        if (s.start() >= time.start()) {
          sum += Rest.of(model, s.length(), 1).own() + model.changeNs();
        }
      }
    }
    return sum;
  }
}
