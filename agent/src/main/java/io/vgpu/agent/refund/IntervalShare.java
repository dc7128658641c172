package io.vgpu.agent.refund;

import java.util.List;

/**
 * What a process had of one interval (cuda-shim.md 5.7): the Java side of {@code share.c}, which
 * says why. A brief one is {@link BriefShare}'s. In a long one a neighbour's short interval is the
 * neighbour's, and costs switches: both where nobody else has a long one in flight, else only the
 * way back, since the card would have left anyway. The rest is shared equally by all that have a
 * long one in flight, less what they lose in switching. Pure.
 *
 * @param own what it had
 * @param refund what it is given back, at most 95 % of the interval
 * @param lost the part of the refund that is nobody's
 * @param turns interruptions of a brief interval
 */
record IntervalShare(long own, long refund, long lost, int turns) {
  static final int MOST_PERCENT = 95;

  /**
   * @param earnedNs what the process has had of the card before, less a price for each interruption
   * @param fresh it had not had the card just before
   */
  static IntervalShare of(
      GpuModel model, Span interval, long earnedNs, boolean fresh, List<History> others) {
    if (interval.length() <= model.briefNs()) {
      return BriefShare.of(model, interval, earnedNs, fresh, others);
    }
    Crowd.Cuts cuts = Crowd.Cuts.of(model, interval, others);
    long[] shared = new long[others.size() + 2];
    Exclusive exclusive = new Exclusive(model, interval, cuts, shared);
    Shorts shorts = new Shorts(model, interval, others);
    for (Span s = shorts.next(); s != null; s = shorts.next()) {
      exclusive.take(s);
    }
    exclusive.finish();

    long own = shared[1] + exclusive.given + exclusive.beyondWhatSwitchingCanTake();
    long lost = Math.max(exclusive.switchingEach, 0);
    for (int size = 2; size < shared.length; size++) {
      long loss = shared[size] * model.lossPermille(size) / 1000;
      own += (shared[size] - loss) / size;
      lost += loss / size;
    }
    long length = interval.length();
    long refund = Math.min(Math.max(length - own, 0), length * MOST_PERCENT / 100);
    return new IntervalShare(length - refund, refund, Math.min(lost, refund), 0);
  }

  /** Goes over the neighbours' short intervals; what is between them is shared. */
  private static final class Exclusive {
    private final GpuModel model;
    private final Span interval;
    private final Crowd atShort;
    private final Crowd atRest;
    private final long[] shared;
    private final long leave;
    private final long back;
    private long position;
    private long takenUntil;
    private long switching;
    private long switchingEach;
    private long covered;
    private long given;

    Exclusive(GpuModel model, Span interval, Crowd.Cuts cuts, long[] shared) {
      this.model = model;
      this.interval = interval;
      this.atShort = new Crowd(cuts);
      this.atRest = new Crowd(cuts);
      this.shared = shared;
      this.leave = model.leaveUs() * 1000L;
      this.back = model.backUs() * 1000L;
      this.position = interval.start();
      this.takenUntil = interval.start();
    }

    void take(Span s) {
      long start = Math.max(s.start(), interval.start());
      long end = Math.min(s.end(), interval.end());
      int size = atShort.sizeAt(start);
      long from = Math.max(start - (size == 1 ? leave : 0), position);
      long to = Math.max(Math.min(end + back, interval.end()), position);
      from = Math.min(from, to);
      atRest.add(position, from, shared);
      long taken = Math.max(end - Math.max(start, takenUntil), 0);
      takenUntil = Math.max(takenUntil, end);
      covered += to - from;
      switching += to - from - taken;
      switchingEach += (to - from - taken) / size;
      position = to;
      giveBack(s, taken, size);
    }

    /**
     * A short one that was interrupted holds turns of ours, and of the others that have a long one
     * in flight.
     */
    private void giveBack(Span s, long taken, int size) {
      Rest rest = Rest.of(model, s.length(), size);
      if (rest.rounds() == 0) {
        return;
      }
      long switched = taken * (rest.switches() / 1000) / (s.length() / 1000);
      long othersHad = taken * (rest.own() / 1000) / (s.length() / 1000);
      long turns = Math.max(taken - othersHad - switched, 0);
      given += turns / size;
      covered -= turns;
      switching += switched;
      switchingEach += switched / size;
    }

    void finish() {
      atRest.add(position, interval.end(), shared);
    }

    /**
     * The card cannot switch more often than it has time slices: a flood of tiny intervals is worth
     * no more than that. To be called once.
     */
    long beyondWhatSwitchingCanTake() {
      long most = leave + back + (interval.length() - covered) * model.switchMaxPermille() / 1000;
      if (switching <= most) {
        return 0;
      }
      switchingEach = switchingEach / 1000 * (most / 1000) / (switching / 1000 + 1) * 1000;
      return switching - most;
    }
  }
}
