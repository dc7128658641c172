package io.vgpu.control.scheduler;

import io.vgpu.control.cluster.NodeView;
import io.vgpu.control.scheduler.Verdict.Refused;
import io.vgpu.model.Reason;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * What filter says of each node that was asked about. Lists and maps of names are made only for
 * those who want them. Immutable; any thread.
 */
final class Judged implements FilterVerb.Answer {
  private final Asked asked;
  private final @Nullable Refused[] refusals;
  private final int fits;
  private final Shortlist shortlist;
  private final Map<Reason, Integer> reasons;
  private final Function<NodeView, Verdict> plan;

  /**
   * @param refusals by position, null where the pod fits; handed over
   * @param plan the allocator's full word on a node
   */
  Judged(Asked asked, @Nullable Refused[] refusals, Function<NodeView, Verdict> plan) {
    this.asked = asked;
    this.refusals = refusals;
    this.plan = plan;
    int[] counts = new int[Reason.values().length];
    int fitting = 0;
    for (Refused no : refusals) {
      if (no == null) {
        fitting++;
      } else {
        counts[no.reason().ordinal()]++;
      }
    }
    this.fits = fitting;
    this.shortlist = Shortlist.all(fitting);
    this.reasons = new EnumMap<>(Reason.class);
    for (Reason r : Reason.values()) {
      if (counts[r.ordinal()] > 0) {
        reasons.put(r, counts[r.ordinal()]);
      }
    }
  }

  private Judged(Judged same, Shortlist shortlist) {
    this.asked = same.asked;
    this.refusals = same.refusals;
    this.plan = same.plan;
    this.fits = same.fits;
    this.reasons = same.reasons;
    this.shortlist = shortlist;
  }

  /** The same, of which only some are named. */
  Judged naming(Shortlist some) {
    return new Judged(this, some);
  }

  Asked asked() {
    return asked;
  }

  /** Which of the nodes that fit are named. */
  Shortlist shortlist() {
    return shortlist;
  }

  /** Whether the node at a position fits and is named. */
  boolean isOffered(int position) {
    return refusals[position] == null && shortlist.names(position);
  }

  /** How many nodes were asked about. */
  int nodes() {
    return refusals.length;
  }

  /** On how many of them the pod fits. */
  int fits() {
    return fits;
  }

  /** How many nodes were refused for which reason. */
  Map<Reason, Integer> reasons() {
    return reasons;
  }

  /** Why the pod does not fit on the node at a position; null where it does. */
  @Nullable Refused refusal(int position) {
    return refusals[position];
  }

  /** The allocator's full word on one of the nodes. */
  Verdict verdict(int position) {
    NodeView node = asked.views()[position];
    return node == null ? FilterVerb.MISSED : plan.apply(node);
  }

  /** The same by name. */
  Verdict verdict(String name) {
    NodeView node = asked.find(name);
    return node == null ? FilterVerb.MISSED : plan.apply(node);
  }

  /** The first nodes that fit and are named, in request order. */
  List<String> offered(int most) {
    List<String> names = new ArrayList<>(Math.min(most, shortlist.size()));
    for (int i = 0; i < refusals.length && names.size() < most; i++) {
      if (isOffered(i)) {
        names.add(asked.known(i).name());
      }
    }
    return names;
  }

  /** All of them. */
  List<String> offered() {
    return offered(shortlist.size());
  }

  /** Positions of all nodes that fit, named or not, in the order of their names. */
  int[] fittingByName() {
    int[] fitting = new int[fits];
    int n = 0;
    for (int known : asked.byName()) {
      if (known > 0 && refusals[known - 1] == null) {
        fitting[n++] = known - 1;
      }
    }
    return fitting;
  }

  /** Why the others do not, in request order. */
  Map<String, Refused> refused() {
    Map<String, Refused> refused = new LinkedHashMap<>();
    for (int i = 0; i < refusals.length; i++) {
      Refused no = refusals[i];
      if (no != null) {
        refused.put(asked.names().get(i), no);
      }
    }
    return refused;
  }
}
