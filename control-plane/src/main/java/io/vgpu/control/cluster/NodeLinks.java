package io.vgpu.control.cluster;

import io.vgpu.claim.FormatException;
import io.vgpu.claim.InventoryCodec;
import io.vgpu.model.GpuDevice;
import io.vgpu.model.NodeTopology;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.IntPredicate;
import org.jspecify.annotations.Nullable;

/**
 * How the cards of one node are linked, worked out once per annotation text (control-plane.md 2.7,
 * 3.12). Cards are named by their position in the node's list. Immutable, any thread.
 */
public final class NodeLinks {
  /** No links are known. */
  public static final NodeLinks NONE = new NodeLinks(List.of(), new int[0][0], new int[0][0], "");

  private static final int ONE_NVLINK = 7;
  private static final int[] PCIE_SCORE = {0, 10, 20, 30, 40, 50, 60};

  /** How close cards are by the strongest link of a pair, tightest first. */
  public enum Tier {
    NVLINK(ONE_NVLINK),
    SWITCH(4),
    NUMA(2),
    ANY(1);

    private final int weakest;

    Tier(int weakest) {
      this.weakest = weakest;
    }

    /** The word used in events and metrics. */
    public String word() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /** {@code complete}: whoever hangs together is linked directly. */
  private record Shape(int[] component, int largest, boolean complete, boolean uniform) {}

  private final List<GpuDevice> devices;
  private final int[][] strongest;
  private final int[][] score;
  private final boolean published;
  private final String problem;
  private final Map<Tier, Shape> shapes = new EnumMap<>(Tier.class);

  private NodeLinks(List<GpuDevice> devices, int[][] strongest, int[][] score, String problem) {
    this.devices = devices;
    this.strongest = strongest;
    this.score = score;
    this.problem = problem;
    this.published =
        Arrays.stream(strongest).anyMatch(row -> Arrays.stream(row).anyMatch(c -> c > 0));
    for (Tier tier : Tier.values()) {
      shapes.put(tier, shape(tier));
    }
  }

  /** Reads {@code node-device-topology}; a text that cannot be read counts as none, and says so. */
  public static NodeLinks of(List<GpuDevice> devices, @Nullable String text) {
    if (text == null || text.isBlank()) {
      return NONE;
    }
    try {
      return of(devices, InventoryCodec.decodeTopology(text));
    } catch (FormatException e) {
      return new NodeLinks(List.of(), new int[0][0], new int[0][0], String.valueOf(e.getMessage()));
    }
  }

  /** Links between cards that the node does not list are passed over. */
  public static NodeLinks of(List<GpuDevice> devices, NodeTopology topology) {
    int n = devices.size();
    int[][] strongest = new int[n][n];
    int[][] score = new int[n][n];
    StringBuilder problem = new StringBuilder();
    for (int a = 0; a < n; a++) {
      for (int b = a + 1; b < n; b++) {
        List<Integer> there = links(topology, devices.get(a).id(), devices.get(b).id());
        List<Integer> back = links(topology, devices.get(b).id(), devices.get(a).id());
        if (there.size() != back.size()) {
          // a pair that its two ends tell differently of promises nothing
          problem.append(problem.isEmpty() ? "" : ", ");
          problem.append("cards ").append(devices.get(a).id()).append(" and ");
          problem.append(devices.get(b).id()).append(" list different links");
          continue;
        }
        strongest[a][b] = strongest[b][a] = there.stream().mapToInt(c -> c).max().orElse(0);
        score[a][b] = score[b][a] = there.stream().mapToInt(NodeLinks::scoreOf).sum();
      }
    }
    return new NodeLinks(List.copyOf(devices), strongest, score, problem.toString());
  }

  private static List<Integer> links(NodeTopology topology, int from, int to) {
    SortedMap<Integer, List<Integer>> peers = topology.links().get(from);
    return peers == null ? List.of() : peers.getOrDefault(to, List.of());
  }

  private static int scoreOf(int code) {
    return code < PCIE_SCORE.length ? PCIE_SCORE[code] : 100 * (code - ONE_NVLINK + 1);
  }

  private Shape shape(Tier tier) {
    int n = strongest.length;
    int[] component = new int[n];
    Arrays.fill(component, -1);
    int next = 0;
    int largest = 0;
    boolean complete = true;
    boolean uniform = true;
    for (int start = 0; start < n; start++) {
      if (component[start] < 0) {
        List<Integer> members = reach(start, next++, component, tier);
        largest = Math.max(largest, members.size());
        complete &= isComplete(members, tier);
        uniform &= isUniform(members, tier);
      }
    }
    return new Shape(component, largest, complete, uniform);
  }

  private List<Integer> reach(int start, int number, int[] component, Tier tier) {
    List<Integer> members = new ArrayList<>(List.of(start));
    component[start] = number;
    for (int i = 0; i < members.size(); i++) {
      for (int peer = 0; peer < strongest.length; peer++) {
        if (component[peer] < 0 && linked(members.get(i), peer, tier)) {
          component[peer] = number;
          members.add(peer);
        }
      }
    }
    return members;
  }

  private boolean isComplete(List<Integer> members, Tier tier) {
    return members.stream()
        .allMatch(a -> members.stream().allMatch(b -> a.equals(b) || linked(a, b, tier)));
  }

  private boolean isUniform(List<Integer> members, Tier tier) {
    int code = members.size() < 2 ? 0 : strongest[members.get(0)][members.get(1)];
    return members.stream()
        .allMatch(
            a ->
                members.stream()
                    .allMatch(b -> a.equals(b) || (linked(a, b, tier) && strongest[a][b] == code)));
  }

  /** Whether the node published a link at all. */
  public boolean published() {
    return published;
  }

  /** What is wrong with what the node published; empty when nothing is. */
  public String problem() {
    return problem;
  }

  /** Whether two cards are linked directly, at least this tightly. */
  public boolean linked(int a, int b, Tier tier) {
    return strongest[a][b] >= tier.weakest;
  }

  /** Whether the card has a peer at this tier, free or not. */
  public boolean hasPeer(int card, Tier tier) {
    for (int peer = 0; peer < strongest.length; peer++) {
      if (linked(card, peer, tier)) {
        return true;
      }
    }
    return false;
  }

  /**
   * Whether {@code n} of some of the first {@code cards} cards hang together by links among these
   * alone; one card counts where it has a peer at all.
   */
  public boolean hasSet(Tier tier, int cards, IntPredicate some, int n) {
    Shape shape = of(tier);
    if (shape.complete() || n <= 1) {
      int[] members = new int[cards];
      for (int at = 0; at < cards; at++) {
        boolean counts = some.test(at) && (n > 1 || hasPeer(at, tier));
        if (counts && ++members[shape.component()[at]] >= n) {
          return true;
        }
      }
      return false;
    }
    boolean[] open = new boolean[cards];
    for (int at = 0; at < cards; at++) {
      open[at] = some.test(at);
    }
    int[] reached = new int[cards];
    for (int start = 0; start < cards; start++) {
      if (open[start]) {
        open[start] = false;
        reached[0] = start;
        int size = 1;
        for (int i = 0; i < size; i++) {
          for (int peer = 0; peer < cards; peer++) {
            if (open[peer] && linked(reached[i], peer, tier)) {
              open[peer] = false;
              reached[size++] = peer;
            }
          }
        }
        if (size >= n) {
          return true;
        }
      }
    }
    return false;
  }

  /** The pair's score: the sum over its links. */
  public int score(int a, int b) {
    return score[a][b];
  }

  /** Size of the largest component of the whole node. */
  public int largest(Tier tier) {
    return of(tier).largest();
  }

  /** Whether every component of the tier is a complete graph of one kind of link. */
  public boolean uniform(Tier tier) {
    return of(tier).uniform();
  }

  private Shape of(Tier tier) {
    return Objects.requireNonNull(shapes.get(tier), "every tier has a shape");
  }

  /** The NVLink component of a card; components are numbered by their first card. */
  public int island(int card) {
    return of(Tier.NVLINK).component()[card];
  }

  /** How many cards the NVLink component has, busy ones too. */
  public int islandSize(int island) {
    return (int) Arrays.stream(of(Tier.NVLINK).component()).filter(c -> c == island).count();
  }

  /**
   * What each NVLink component is called in comparison with other nodes (3.13): by its rails where
   * every card's is known, else by its rank. By component number; where two are called alike, the
   * first is meant.
   */
  public List<String> islandNames(Map<String, String> rails) {
    SortedMap<Integer, TreeSet<String>> keys = new TreeMap<>();
    boolean complete = true;
    for (int at = 0; at < devices.size(); at++) {
      String rail = rails.get(devices.get(at).uuid().value());
      complete &= rail != null;
      keys.computeIfAbsent(island(at), k -> new TreeSet<>()).add(String.valueOf(rail));
    }
    List<String> names = new ArrayList<>();
    for (Map.Entry<Integer, TreeSet<String>> e : keys.entrySet()) {
      names.add(complete ? "rail:" + String.join(",", e.getValue()) : "ord:" + e.getKey());
    }
    return List.copyOf(names);
  }
}
