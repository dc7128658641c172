package io.vgpu.agent.refund;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * Turns for containers of one card that do not get through (cuda-shim.md 5.8): the Java side of
 * {@code turns.c}, which says how. Pure but for what it remembers; one thread at a time.
 */
public final class TurnPlanner {
  static final int CONTAINERS = 32;
  private static final int SLICES = 48;
  private static final int FITTED_SLICES = 20;
  private static final int SLACK_US = 600;
  private static final int IDLE_LOOKS = 2;
  private static final int SHORTEST_US = 20_000;
  private static final int LONGEST_US = 80_000;
  private static final long BACKLOG_NS = 120_000_000;
  static final long SAVED_NS = 4_000_000;
  private static final long STEADY_NS = 2_000_000_000;
  private static final int LOOKS_MASK = 0xFFFFFF;
  private static final int LOOKS_AT_WORK = 22;
  private static final long END_NS = 500_000_000;

  private final List<Member> members = new ArrayList<>();
  private boolean on;
  private int periodUs;
  private long periodSinceNs;

  private static final class Member {
    final long name;
    Turn given = Turn.NONE; // at the last look, to know whose turn is running
    long backloggedSince; // 0: it is not
    long workedNs;
    long savedNs; // last with something saved up
    int atWork; // the last looks, a bit each
    int idleLooks;

    Member(long name) {
      this.name = name;
    }

    boolean worksAlways() {
      return Integer.bitCount(atWork) >= LOOKS_AT_WORK;
    }

    boolean workedLately(long nowNs) {
      return workedNs != 0 && nowNs - workedNs <= END_NS;
    }
  }

  /** Whether turns are being given now. */
  public boolean on() {
    return on;
  }

  /** Whether they are, or one who does not get through may soon need them. */
  boolean press() {
    if (on) {
      return true;
    }
    for (Member m : members) {
      if (m.backloggedSince != 0) {
        return true;
      }
    }
    return false;
  }

  /** One look: a turn for each, in order; those beyond {@link #CONTAINERS} have none. */
  public List<Turn> plan(List<TurnLook> all, long nowNs) {
    List<TurnLook> looks = all.subList(0, Math.min(all.size(), CONTAINERS));
    forgetAbsent(looks);
    List<Boolean> takes = new ArrayList<>();
    int joined = 0;
    int taking = 0;
    boolean needed = false;
    boolean latency = false;
    for (TurnLook look : looks) {
      Member m = memberOf(look.name());
      observe(m, look, nowNs);
      boolean joins = joins(m, nowNs);
      boolean takesOne = joins && m.idleLooks < IDLE_LOOKS;
      takes.add(takesOne);
      joined += joins ? 1 : 0;
      needed |= joins && pressed(m, nowNs);
      latency |= look.latency() && m.workedLately(nowNs);
      taking += takesOne ? 1 : 0;
    }
    on = joined >= 2 && needed && !latency;
    for (Member m : members) {
      m.given = Turn.NONE;
    }
    if (!on || taking < 2) {
      periodUs = on ? periodUs : 0;
      return Collections.nCopies(all.size(), Turn.NONE);
    }
    return divide(all, looks, takes, nowNs);
  }

  private void forgetAbsent(List<TurnLook> looks) {
    for (int i = members.size() - 1; i >= 0; i--) {
      boolean present = false;
      for (TurnLook look : looks) {
        present |= look.name() == members.get(i).name;
      }
      if (!present) {
        members.remove(i);
      }
    }
  }

  private Member memberOf(long name) {
    for (Member m : members) {
      if (m.name == name) {
        return m;
      }
    }
    Member added = new Member(name);
    members.add(added);
    return added;
  }

  private void observe(Member m, TurnLook look, long nowNs) {
    boolean saved = look.bucketNs() >= SAVED_NS;
    if (look.working()) {
      m.workedNs = nowNs;
    }
    // who waits for its bucket works; who has never launched has an empty one too
    boolean atWork = look.working() || (look.bucketNs() <= 0 && m.workedLately(nowNs));
    m.atWork = (m.atWork << 1 | (atWork ? 1 : 0)) & LOOKS_MASK;
    if (saved) {
      m.savedNs = nowNs;
    }
    if (!saved || !m.worksAlways()) {
      m.backloggedSince = 0;
    } else if (m.backloggedSince == 0) {
      m.backloggedSince = nowNs;
    }
    if (look.working()) {
      m.idleLooks = 0;
    } else if (m.idleLooks < IDLE_LOOKS && m.given.runs(nowNs, longestUs(look))) {
      m.idleLooks++;
    }
  }

  /** Under turns nobody has something in flight all the time. */
  private boolean joins(Member m, long nowNs) {
    return on ? m.workedLately(nowNs) : m.worksAlways();
  }

  private boolean pressed(Member m, long nowNs) {
    return on
        ? m.savedNs != 0 && nowNs - m.savedNs <= END_NS
        : m.backloggedSince != 0 && nowNs - m.backloggedSince >= BACKLOG_NS;
  }

  private List<Turn> divide(
      List<TurnLook> all, List<TurnLook> looks, List<Boolean> takes, long nowNs) {
    long[] weights = weights(looks, takes);
    long sum = 0;
    for (long w : weights) {
      sum += w;
    }
    periodUs = period(looks, weights, sum, nowNs);
    List<Turn> turns = new ArrayList<>();
    long before = 0;
    for (int i = 0; i < all.size(); i++) {
      if (i >= weights.length || weights[i] == 0) {
        turns.add(Turn.NONE);
        continue;
      }
      long from = periodUs * before / sum;
      before += weights[i];
      long to = periodUs * before / sum;
      Turn turn = new Turn(periodUs, (int) from, (int) (to - from));
      turns.add(turn);
      memberOf(all.get(i).name()).given = turn;
    }
    return turns;
  }

  private static long[] weights(List<TurnLook> looks, List<Boolean> takes) {
    long[] weights = new long[looks.size()];
    long sum = 0;
    long borrowers = 0;
    for (int i = 0; i < weights.length; i++) {
      if (takes.get(i)) {
        weights[i] = Math.clamp(looks.get(i).permille(), 1, 1000);
        sum += weights[i];
        borrowers += looks.get(i).borrows() ? 1 : 0;
      }
    }
    long idle = sum < 1000 && borrowers > 0 ? (1000 - sum) / borrowers : 0;
    for (int i = 0; i < weights.length; i++) {
      weights[i] += takes.get(i) && looks.get(i).borrows() ? idle : 0;
    }
    return weights;
  }

  private static long longestUs(TurnLook look) {
    return Math.clamp(look.longestNs() / 1000, 0, LONGEST_US);
  }

  private int period(List<TurnLook> looks, long[] weights, long sum, long nowNs) {
    long wanted = SHORTEST_US;
    for (int i = 0; i < weights.length; i++) {
      if (weights[i] != 0) {
        wanted = Math.max(wanted, SLICES * longestUs(looks.get(i)) * sum / weights[i]);
      }
    }
    wanted = fitted(Math.min(wanted, LONGEST_US), looks, weights, sum);
    // a period that trembles helps nobody: small changes are made now and then
    boolean far = wanted * 4 < periodUs * 3L || wanted * 4 > periodUs * 5L;
    boolean rested = nowNs - periodSinceNs >= STEADY_NS;
    if (!far && (!rested || wanted == periodUs)) {
      return periodUs;
    }
    periodSinceNs = nowNs;
    return (int) wanted;
  }

  /**
   * Long slices do not fill just any turn: of the container whose slices are longest beside its
   * turn, a whole number fits.
   */
  private static long fitted(long period, List<TurnLook> looks, long[] weights, long sum) {
    long best = period;
    long fewest = FITTED_SLICES;
    for (int i = 0; i < weights.length; i++) {
      long longest = longestUs(looks.get(i));
      long turn = period * weights[i] / sum;
      if (longest == 0 || turn < longest + SLACK_US) {
        continue;
      }
      long fit = (turn - SLACK_US) / longest;
      if (fit < fewest) {
        fewest = fit;
        best = (fit * longest + SLACK_US) * sum / weights[i];
      }
    }
    return best;
  }
}
