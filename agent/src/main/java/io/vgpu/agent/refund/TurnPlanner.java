package io.vgpu.agent.refund;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Turns for the backlogged containers of one card (cuda-shim.md 5.8): the Java side of {@code
 * turns.c}, which says how. Pure but for what it remembers; one thread at a time.
 */
public final class TurnPlanner {
  static final int CONTAINERS = 32;
  private static final int SLICES = 32;
  private static final int IDLE_LOOKS = 2;
  private static final int SHORTEST_US = 20_000;
  private static final int LONGEST_US = 80_000;
  private static final long BACKLOG_NS = 120_000_000;
  private static final long GAP_NS = 20_000_000;
  private static final long END_NS = 500_000_000;

  private final Map<Long, Member> members = new HashMap<>();
  private Map<Long, Turn> given = Map.of();
  private boolean on;
  private int periodUs;

  private static final class Member {
    long backloggedSince; // 0: it is not
    long workedNs;
    long ableNs;
    int idleLooks;
  }

  /** Whether turns are being given now. */
  public boolean on() {
    return on;
  }

  /** One look: a turn for each, in order; those beyond {@link #CONTAINERS} have none. */
  public List<Turn> plan(List<TurnLook> all, long nowNs) {
    List<TurnLook> looks = all.subList(0, Math.min(all.size(), CONTAINERS));
    members.keySet().removeIf(name -> looks.stream().noneMatch(l -> l.name() == name));
    List<Boolean> takes = new ArrayList<>();
    int joined = 0;
    int taking = 0;
    for (TurnLook look : looks) {
      Member m = members.computeIfAbsent(look.name(), n -> new Member());
      observe(m, look, nowNs);
      boolean joins = joins(m, nowNs);
      boolean takesOne = joins && m.idleLooks < IDLE_LOOKS;
      takes.add(takesOne);
      joined += joins ? 1 : 0;
      taking += takesOne ? 1 : 0;
    }
    on = joined >= 2 && looks.stream().noneMatch(TurnLook::latency);
    given = Map.of();
    if (!on || taking < 2) {
      periodUs = on ? periodUs : 0;
      return all.stream().map(l -> Turn.NONE).toList();
    }
    return divide(all, looks, takes);
  }

  private void observe(Member m, TurnLook look, long nowNs) {
    if (look.working()) {
      m.workedNs = nowNs;
    }
    if (look.bucketNs() > 0) {
      m.ableNs = nowNs;
    }
    boolean backlogged = look.bucketNs() > 0 && m.workedNs != 0 && nowNs - m.workedNs <= GAP_NS;
    if (!backlogged) {
      m.backloggedSince = 0;
    } else if (m.backloggedSince == 0) {
      m.backloggedSince = nowNs;
    }
    if (look.working()) {
      m.idleLooks = 0;
    } else if (given.getOrDefault(look.name(), Turn.NONE).runs(nowNs) && m.idleLooks < IDLE_LOOKS) {
      m.idleLooks++;
    }
  }

  private boolean joins(Member m, long nowNs) {
    return on
        ? nowNs - m.workedNs <= END_NS && nowNs - m.ableNs <= END_NS && m.workedNs != 0
        : m.backloggedSince != 0 && nowNs - m.backloggedSince >= BACKLOG_NS;
  }

  private List<Turn> divide(List<TurnLook> all, List<TurnLook> looks, List<Boolean> takes) {
    long[] weights = weights(looks, takes);
    long sum = 0;
    for (long w : weights) {
      sum += w;
    }
    periodUs = period(looks, weights, sum);
    List<Turn> turns = new ArrayList<>();
    Map<Long, Turn> next = new HashMap<>();
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
      next.put(all.get(i).name(), turn);
    }
    given = next;
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

  private int period(List<TurnLook> looks, long[] weights, long sum) {
    long wanted = SHORTEST_US;
    for (int i = 0; i < weights.length; i++) {
      if (weights[i] == 0 || looks.get(i).longestNs() <= 0) {
        continue;
      }
      long longestUs = Math.min(looks.get(i).longestNs() / 1000, LONGEST_US);
      wanted = Math.max(wanted, SLICES * longestUs * sum / weights[i]);
    }
    wanted = Math.min(wanted, LONGEST_US);
    // a period that trembles helps nobody
    boolean near = periodUs != 0 && wanted * 4 >= periodUs * 3L && wanted * 4 <= periodUs * 5L;
    return near ? periodUs : (int) wanted;
  }
}
