package io.vgpu.agent.refund;

import io.vgpu.agent.shim.Abi;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The refunds of one card: the Java side of {@code cuda-shim/src/refund/refund.c}, which says why;
 * the two give the same bytes. Bounded in memory and time whatever the rings hold. One thread at a
 * time.
 */
public final class RefundLedger {
  static final int CONTAINERS = 32;
  private static final int OTHERS = 128;
  private static final int SETTLED = 256;
  private static final long MS = 1_000_000;
  static final long SECOND_NS = 1_000_000_000;
  private static final long PATIENCE_NS = SECOND_NS;
  private static final long PATIENCE_WHOLE_NS = 10 * MS;
  private static final long WINDOW_NS = 2 * SECOND_NS;
  static final long LENGTH_MAX_NS = 10 * SECOND_NS;
  private static final long FUTURE_NS = MS;
  private static final long TOUCH_NS = 50_000;
  private static final long ACTIVE_NS = 100 * MS;
  static final long DEBT_MAX_NS = 2 * SECOND_NS;
  static final long PAID_SLACK_NS = 5 * MS;
  static final long SHARE_CAP_NS = 2 * SECOND_NS;
  private static final long POT_NS = SECOND_NS;
  private static final long UINT32_MAX = 0xFFFFFFFFL;

  private final GpuModel model;
  private final ContainerLedger[] containers = new ContainerLedger[CONTAINERS];
  private final long[] dropped = new long[RefundDrop.values().length];
  private long lastNs;
  private long passedNs; // between this look and the one before
  private long posted; // most that one process had posted at this look
  private long secondNs;
  private long potNs; // wall time less what is charged
  private long accepted;
  private long settled;
  private long refundedNs;
  private long clippedNs;

  /** Empty, for a card of this model. */
  public RefundLedger(GpuModel model) {
    this.model = model;
    for (int i = 0; i < CONTAINERS; i++) {
      containers[i] = new ContainerLedger();
    }
  }

  /**
   * What a container has by now.
   *
   * @param refundNs cumulative since the ledger knows it
   * @param othersActive processes of others that were active in the last 100 ms
   * @param active processes of its own
   * @param longestSliceNs of about the last second
   */
  public record Account(long refundNs, int othersActive, int active, long longestSliceNs) {}

  /** One look at all containers of the card; who is missing is forgotten. */
  public void look(List<Look> looks, long nowNs) {
    long passed = lastNs == 0 ? POT_NS / 10 : Math.min(Math.max(nowNs - lastNs, 0), SECOND_NS);
    lastNs = nowNs;
    passedNs = passed;
    posted = 0;
    potNs = Math.min(potNs + passed, POT_NS);
    nextSecond(nowNs);
    forgetAbsent(looks);
    for (Look look : looks) {
      ContainerLedger found = findOrAdd(look.name(), look.rawBusyNs());
      if (found == null) {
        continue;
      }
      found.refill(look, passed);
      found.owe(look, nowNs);
      for (int k = 0; k < look.slotCount(); k++) {
        readProcess(found, look, k, nowNs);
      }
    }
    settleAll(nowNs);
    countActive(nowNs);
  }

  /** What a container has; null: not known, or one too many. */
  public @Nullable Account account(long name) {
    ContainerLedger c = find(name);
    return c == null ? null : new Account(c.refundNs, c.othersActive, c.active, c.longestSliceNs());
  }

  /** Processes that were active in the last 100 ms. */
  public int active() {
    int sum = 0;
    for (ContainerLedger c : containers) {
      sum += c.name == 0 ? 0 : c.active;
    }
    return sum;
  }

  /** Intervals dropped so far. */
  public long dropped(RefundDrop why) {
    return dropped[why.ordinal()];
  }

  /** Refunds given so far. */
  public long refundedNs() {
    return refundedNs;
  }

  /** Refunds not given because they do not fit into the wall time. */
  public long clippedNs() {
    return clippedNs;
  }

  /** Intervals believed so far. */
  public long accepted() {
    return accepted;
  }

  /** Intervals settled so far. */
  public long settled() {
    return settled;
  }

  /** For the comparison with the C side. */
  long potNs() {
    return potNs;
  }

  /** Null: not known. */
  @Nullable ContainerLedger find(long name) {
    for (ContainerLedger c : containers) {
      if (name != 0 && c.name == name) {
        return c;
      }
    }
    return null;
  }

  /** For the next look: all there is room for, those without a name unused. */
  ContainerLedger[] containers() {
    return containers;
  }

  /** Between the last look and the one before. */
  long passedNs() {
    return passedNs;
  }

  /** Most that one process had posted at the last look. */
  long posted() {
    return posted;
  }

  /** Null: there are too many. */
  private @Nullable ContainerLedger findOrAdd(long name, long rawBusyNs) {
    ContainerLedger known = find(name);
    if (known != null) {
      return known;
    }
    for (ContainerLedger c : containers) {
      if (c.name == 0) {
        c.begin(name, rawBusyNs);
        return c;
      }
    }
    return null;
  }

  private void nextSecond(long nowNs) {
    if (nowNs - secondNs < SECOND_NS && nowNs >= secondNs) {
      return;
    }
    secondNs = nowNs;
    for (ContainerLedger c : containers) {
      c.nextSecond();
    }
  }

  private void forgetAbsent(List<Look> looks) {
    for (ContainerLedger c : containers) {
      c.present = false;
    }
    for (Look look : looks) {
      ContainerLedger known = find(look.name());
      if (known != null) {
        known.present = true;
      }
    }
    for (ContainerLedger c : containers) {
      if (!c.present) {
        c.end();
      }
    }
  }

  private void readProcess(ContainerLedger c, Look look, int k, long nowNs) {
    ProcessLedger p = c.process(k);
    if (!p.known || p.generation != look.generation(k)) {
      if (!p.known) {
        p.head = look.head(k); // what was there before us is not ours to judge
      }
      p.known = true;
      p.generation = look.generation(k);
      p.overdue = false;
    }
    p.openSince = openSince(look, k, nowNs);
    readRing(c, p, look, k, nowNs);
  }

  private static long openSince(Look look, int k, long nowNs) {
    long since = look.openSinceNs(k);
    if (look.state(k) != Abi.SLOT_LIVE
        || since == 0
        || Long.compareUnsigned(since, nowNs + look.offsetNs()) > 0
        || (look.deviceCount() != 1 && look.inflightUs(k) == 0)) {
      return 0;
    }
    long open = since - look.offsetNs();
    return open < nowNs - LENGTH_MAX_NS || open <= 0 ? 0 : open;
  }

  private void readRing(ContainerLedger c, ProcessLedger p, Look look, int k, long nowNs) {
    long head = look.head(k);
    long more = head - p.head;
    if (more == 0) {
      return;
    }
    boolean tooMany = Long.compareUnsigned(more, Abi.RING_ENTRIES) > 0;
    posted = Math.max(posted, tooMany ? Abi.RING_ENTRIES : more);
    p.overdue = false;
    if (tooMany) {
      drop(RefundDrop.HEAD);
      if (Long.compareUnsigned(head, p.head) < 0 || Long.compareUnsigned(more, UINT32_MAX) > 0) {
        p.head = head; // nonsense: begin anew at what it says
        return;
      }
      p.head = head - Abi.RING_ENTRIES;
    }
    for (; p.head != head; p.head++) {
      int device = look.device(k, p.head);
      if (device != look.device()) {
        if (Integer.compareUnsigned(device, look.deviceCount()) >= 0) {
          drop(RefundDrop.DEVICE);
        }
        continue; // another ledger's
      }
      RefundDrop why = take(c, p, look, k, p.head, nowNs);
      if (why == null) {
        accepted++;
      } else {
        drop(why);
      }
    }
  }

  /** Null if the interval counts. */
  private @Nullable RefundDrop take(
      ContainerLedger c, ProcessLedger p, Look look, int k, long n, long nowNs) {
    long length = look.lengthNs(k, n);
    if (length == 0 || length > LENGTH_MAX_NS) {
      return RefundDrop.LENGTH;
    }
    long started = look.startNs(k, n);
    // compared before anything is added: it may be any number
    if (started > nowNs + look.offsetNs() + FUTURE_NS - length) {
      return RefundDrop.FUTURE;
    }
    if (started < nowNs + look.offsetNs() - WINDOW_NS - length) {
      return RefundDrop.OLD;
    }
    long start = started - look.offsetNs();
    long end = start + length;
    if (start < p.lastEnd) {
      if (p.lastEnd - start > TOUCH_NS || end <= p.lastEnd) {
        return RefundDrop.ORDER;
      }
      start = p.lastEnd;
      length = end - start;
    }
    if (c.paidNs < length) {
      return RefundDrop.UNPAID;
    }
    if (c.shareNs <= 0) {
      return RefundDrop.BEYOND;
    }
    c.paidNs -= length;
    if (length <= model.wholeNs()) { // taken for its own until it is settled
      c.shareNs -= length;
      potNs = Math.max(potNs - length, -POT_NS);
      c.longestNs[0] = Math.max(c.longestNs[0], length);
    }
    p.lastEnd = end;
    append(p, start, end);
    return null;
  }

  private void append(ProcessLedger p, long start, long end) {
    p.history.add(start, end);
    if (p.unsettled < p.history.first()) {
      p.unsettled = p.history.first();
      drop(RefundDrop.LATE);
    }
  }

  private void drop(RefundDrop why) {
    dropped[why.ordinal()]++;
  }

  /**
   * Slot by slot over all containers, so that one with many processes does not crowd out others.
   */
  private void settleAll(long nowNs) {
    int room = SETTLED;
    int slots = slotsSeen();
    for (int k = 0; k < slots; k++) {
      for (ContainerLedger c : containers) {
        if (c.name != 0 && k < c.processes.length && c.processes[k].known) {
          room -= settleProcess(c, c.processes[k], nowNs, room);
        }
      }
    }
  }

  /** Beyond these no container has a process. */
  private int slotsSeen() {
    int most = 0;
    for (ContainerLedger c : containers) {
      most = Math.max(most, c.processes.length);
    }
    return most;
  }

  private int settleProcess(ContainerLedger c, ProcessLedger p, long nowNs, int room) {
    int done = 0;
    for (; p.unsettled < p.history.next() && done < room; p.unsettled++) {
      Span span = new Span(p.history.start(p.unsettled), p.history.end(p.unsettled));
      if (span.length() <= model.leastNs()) {
        p.earn(model, span.length(), 0);
        continue;
      }
      boolean whole = span.length() <= model.wholeNs();
      boolean late = nowNs - span.end() >= (whole ? PATIENCE_WHOLE_NS : PATIENCE_NS);
      if (!allIn(p, span.end(), late && !whole) && !late) {
        break;
      }
      settle(c, p, span);
      done++;
    }
    return done;
  }

  private boolean allIn(ProcessLedger self, long end, boolean giveUp) {
    boolean in = true;
    for (ContainerLedger c : containers) {
      for (ProcessLedger p : c.processes) {
        if (p == self || !p.known || !p.mayOverlap(end)) {
          continue;
        }
        if (!giveUp) {
          return false;
        }
        p.overdue = true;
        in = false;
      }
    }
    return in;
  }

  private List<History> neighbours(ProcessLedger self, Span span) {
    List<History> others = new ArrayList<>();
    int slots = slotsSeen();
    for (int k = 0; k < slots; k++) {
      for (ContainerLedger c : containers) {
        if (c.name == 0 || k >= c.processes.length || others.size() == OTHERS) {
          continue;
        }
        ProcessLedger p = c.processes[k];
        if (p != self && p.history.next() != p.history.first() && p.lastEnd > span.start()) {
          others.add(p.history);
        }
      }
    }
    return others;
  }

  private void settle(ContainerLedger c, ProcessLedger p, Span span) {
    IntervalShare share =
        IntervalShare.of(model, span, p.earnedNs, p.comesFresh(model), neighbours(p, span));
    p.earn(model, share.own(), share.turns());
    if (span.length() <= model.wholeNs()) { // it has been taken for its own
      potNs = Math.min(potNs + span.length(), POT_NS);
      c.shareNs = Math.min(c.shareNs + span.length(), SHARE_CAP_NS);
    }
    // time that was nobody's must have been there (D11)
    long nobodys = Math.min(share.lost(), Math.max(potNs - share.own(), 0));
    long refund = share.refund() - (share.lost() - nobodys);
    clippedNs += share.lost() - nobodys;
    long had = span.length() - refund;
    potNs = Math.max(potNs - had - nobodys, -POT_NS);
    c.shareNs = Math.max(c.shareNs - had, -SHARE_CAP_NS);
    c.hadOfSlice(had, refund);
    c.refundNs += refund;
    c.bucketNs += refund;
    refundedNs += refund;
    settled++;
  }

  private void countActive(long nowNs) {
    int all = 0;
    for (ContainerLedger c : containers) {
      c.active = 0;
      for (ProcessLedger p : c.processes) {
        c.active += p.isActive(nowNs - ACTIVE_NS, c.ableNs) ? 1 : 0;
      }
      all += c.active;
    }
    for (ContainerLedger c : containers) {
      c.othersActive = c.name == 0 ? 0 : all - c.active;
    }
  }
}
