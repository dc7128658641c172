package io.vgpu.control.scheduler;

import io.vgpu.model.Reason;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** What the allocator says of one pod on one node. */
public sealed interface Verdict {
  /** It fits, in this way. */
  record Fits(Placement placement) implements Verdict {}

  /**
   * It does not fit.
   *
   * @param reason the primary one
   * @param detail in words, may be empty
   * @param counters how many of the node's cards failed which test
   * @param cards how many cards were tested
   */
  record Refused(Reason reason, String detail, Map<Reason, Integer> counters, int cards)
      implements Verdict {
    public Refused {
      counters = Map.copyOf(counters);
    }

    /** The reason alone, for looks at thousands of nodes; one object a reason. */
    static Refused bare(Reason reason) {
      return Objects.requireNonNull(BARE.get(reason), "every reason has one");
    }

    private static final Map<Reason, Refused> BARE =
        Arrays.stream(Reason.values())
            .collect(
                Collectors.toMap(
                    r -> r,
                    r -> new Refused(r, "", Map.of(), 0),
                    (a, b) -> a,
                    () -> new EnumMap<>(Reason.class)));

    /** A refusal that no single card is the cause of. */
    public static Refused of(Reason reason, String detail) {
      return new Refused(reason, detail, Map.of(), 0);
    }

    /** From the tests of all cards: the most frequent failure leads (control-plane.md 3.10). */
    static Refused byCards(Map<Reason, Integer> counters, int cards, String detail) {
      List<Map.Entry<Reason, Integer>> sorted = sorted(counters);
      Reason primary =
          sorted.isEmpty() ? Reason.INSUFFICIENT_GPU_RESOURCES : sorted.getFirst().getKey();
      return new Refused(primary, detail, counters, cards);
    }

    private static List<Map.Entry<Reason, Integer>> sorted(Map<Reason, Integer> counters) {
      List<Map.Entry<Reason, Integer>> entries =
          new ArrayList<>(new TreeMap<>(counters).entrySet());
      entries.sort(
          Map.Entry.<Reason, Integer>comparingByValue(Comparator.reverseOrder())
              .thenComparing(e -> e.getKey().code()));
      return entries;
    }

    /**
     * For {@code FailedNodes}: the phrase, which kube-scheduler counts; where no node can help,
     * why.
     */
    public String text() {
      return switch (reason) {
        case LINK_TOPOLOGY_UNSATISFIED, NUMA_TOPOLOGY_UNSATISFIED, DEMAND_INVALID -> detailed();
        default -> reason.phrase();
      };
    }

    /** {@code <phrase> (3/8 InsufficientVGPUMemory, …) [<detail>]} (control-plane.md 6.1). */
    public String detailed() {
      String counted =
          counters.isEmpty()
              ? ""
              : sorted(counters).stream()
                  .map(e -> e.getValue() + "/" + cards + " " + e.getKey().code())
                  .collect(Collectors.joining(", ", " (", ")"));
      return reason.phrase() + counted + (detail.isEmpty() ? "" : " [" + detail + "]");
    }
  }
}
