package io.vgpu.control.packing;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * What this cluster's pods are like, and what follows from it for a node's room: the fragment
 * measure, the expected usable capacity, the price of a model. Immutable but for its bounded memo;
 * swapped whole. Any thread.
 */
public final class WorkloadModel {
  /** With fewer pods known, guesses about those to come are worth nothing. */
  public static final int ENOUGH = 50;

  /** Of a cluster of which nothing is known yet. */
  public static final WorkloadModel NONE =
      new WorkloadModel(0, 0, Map.of(), ClusterShape.EMPTY, UsableCapacity.SEED);

  private static final int STATES = 65_536;
  private static final int MODELS = 256;

  private final long version;
  private final long known;
  private final ClusterShape cluster;
  private final TypicalPods typical;
  private final Fragments fragments;
  private final UsableCapacity capacity;
  private final boolean priced;
  private final Map<String, OnModel> models = new ConcurrentHashMap<>();
  private final StateMemo usable;

  /** Which kinds a model suits, and what follows from it. */
  private record OnModel(boolean[] suited, Takers takers) {}

  /**
   * @param version rises with every model of a cluster
   * @param known how many pods it was learned from
   * @param seed of the sequences that stand for the pods to come
   */
  public WorkloadModel(
      long version, long known, Map<Shape, Weight> weights, ClusterShape cluster, long seed) {
    this.version = version;
    this.known = known;
    this.cluster = cluster;
    this.typical = TypicalPods.of(weights);
    this.fragments = new Fragments(typical);
    this.capacity = new UsableCapacity(typical, seed);
    this.priced = Prices.matter(typical);
    this.usable = new StateMemo(STATES, this::usable);
  }

  /** With the product's own sequences. */
  public static WorkloadModel of(
      long version, long known, Map<Shape, Weight> weights, ClusterShape cluster) {
    return new WorkloadModel(version, known, weights, cluster, UsableCapacity.SEED);
  }

  /** Whether enough pods are known to look ahead. */
  public boolean enough() {
    return known >= ENOUGH && typical.size > 0;
  }

  /** For explanations. */
  public String words() {
    return "workload model " + version + ": " + known + " pods, " + typical.size + " typical kinds";
  }

  /** Rises with every model. */
  public long version() {
    return version;
  }

  /** How many pods it was learned from. */
  public long known() {
    return known;
  }

  /** How many kinds of pods are typical. */
  public int typicalKinds() {
    return typical.size;
  }

  /** Thousandths of the node's cards that are idle and of no use to typical pods. */
  public double fragmented(Room room) {
    return fragments.of(room.cpu(), room.byPlace(), onModel(room.model()).suited());
  }

  /**
   * {@link #fragmented} of one node after the other and of what single cards with less left make of
   * it, without an object for each. One thread.
   */
  public final class Fragmented {
    private final FragmentSums sums = new FragmentSums(fragments);
    private String model = "";
    private Takers takers = onModel(model).takers();

    private Fragmented() {}

    /** The next nodes are of this model; neighbours mostly are of the same. */
    public void on(String next) {
      if (!next.equals(model)) {
        takers = onModel(next).takers();
        model = next;
      }
    }

    /** Of a node whose first {@code n} numbers of {@code cards} are what its cards have left. */
    public double of(int cpu, int[] cards, int n) {
      return sums.of(takers.at(cpu), cards, n);
    }

    /** The same, and makes ready for {@link #with}. */
    public double prepare(int cpu, int[] cards, int n) {
      return sums.prepare(takers.at(cpu), cards, n);
    }

    /** Of the node made ready, were {@code after} left of a card that has {@code before}. */
    public double with(int before, int after) {
      return sums.with(before, after);
    }

    /** Whether the same kinds would run with either. */
    public boolean alike(int cpu, int other) {
      return cpu == other || takers.at(cpu) == takers.at(other);
    }
  }

  /** A caller's own. */
  public Fragmented fragmented() {
    return new Fragmented();
  }

  /** {@link #tight} in plain numbers. */
  public double tight(int cpu, int free) {
    return 1 - 0.5 * part(cpu, cluster.largestCpu()) - 0.5 * part(free, cluster.largestNode());
  }

  /** Thousandths of the node's cards that pods to come can be expected to use. */
  public double usable(Room room) {
    return usable.get(new StateMemo.Key(room.cpu(), room.memory(), room.model(), room.sorted()));
  }

  private double usable(StateMemo.Key key) {
    return capacity.of(key.cpu(), key.memory(), key.cards(), onModel(key.model()).suited());
  }

  /** Whether some pods insist on models, so that these have a price. */
  public boolean priced() {
    return priced;
  }

  /**
   * How much scarcer than others each model is for those who insist on it; 0 where nobody does.
   *
   * @param left of each model in the whole cluster, thousandths of cards
   */
  public Map<String, Double> prices(Map<String, Long> left) {
    return Prices.of(typical, left);
  }

  /** Best fit, 0 to 1: 1 where neither CPU nor cards are left. */
  public double tight(Room room) {
    return tight(room.cpu(), room.free());
  }

  private static double part(int left, int largest) {
    return largest == 0 ? 0 : (double) left / largest;
  }

  private OnModel onModel(String model) {
    OnModel known = models.get(model);
    if (known == null) {
      boolean[] suited = typical.onModel(model);
      known = new OnModel(suited, new Takers(fragments, suited));
      if (models.size() < MODELS) {
        models.put(model, known);
      }
    }
    return known;
  }
}
