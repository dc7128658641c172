package io.vgpu.control.scheduler.topology;

import io.vgpu.control.cluster.NodeOffer;
import io.vgpu.control.cluster.SiblingPlace;
import io.vgpu.model.GpuDevice;
import io.vgpu.model.GpuUuid;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Where the cards of a pod's siblings are, so that its own can be in the same place on every node
 * (control-plane.md 3.13): the siblings' usual NVLink component, the rails that they are on, and on
 * their own nodes the component itself. Immutable.
 *
 * @param domain name of the usual component; empty when there is none
 * @param rails the usual set of rails
 * @param anchors per node with siblings, their component
 */
public record Alignment(String domain, Set<String> rails, Map<String, Integer> anchors) {
  /** The pod has no siblings, or does not ask. */
  public static final Alignment NONE = new Alignment("", Set.of(), Map.of());

  /** The part of a node that cards were taken from. */
  public enum Window {
    RAIL("rail"),
    COMPONENT("component"),
    NONE("none");

    private final String word;

    Window(String word) {
      this.word = word;
    }

    /** The word used in metrics. */
    public String word() {
      return word;
    }
  }

  public Alignment {
    rails = Set.copyOf(rails);
    anchors = Map.copyOf(anchors);
  }

  /** From all siblings whose allocation counts, and what their nodes offer. */
  public static Alignment of(List<SiblingPlace> siblings, Map<String, NodeOffer.Offered> nodes) {
    Map<String, Integer> domains = new TreeMap<>();
    Map<String, Integer> rails = new TreeMap<>();
    Map<String, Map<Integer, Integer>> islands = new HashMap<>();
    for (SiblingPlace sibling : siblings) {
      NodeOffer.Offered node = nodes.get(sibling.node());
      if (node != null && node.links().published()) {
        List<String> names = node.links().islandNames(node.rails());
        TreeSet<String> on = new TreeSet<>();
        for (int at : positions(node, sibling.cards())) {
          int island = node.links().island(at);
          domains.merge(names.get(island), 1, Integer::sum);
          islands
              .computeIfAbsent(sibling.node(), n -> new TreeMap<>())
              .merge(island, 1, Integer::sum);
          on.add(node.rail(at));
        }
        rails.merge(String.join(",", on), 1, Integer::sum);
      }
    }
    Map<String, Integer> anchors = new HashMap<>();
    islands.forEach((node, votes) -> most(votes).ifPresent(i -> anchors.put(node, i)));
    String railKey = most(rails).orElse("");
    return new Alignment(
        most(domains).orElse(""),
        railKey.isEmpty() ? Set.of() : Set.of(railKey.split(",", -1)),
        anchors);
  }

  /** The key with most votes; of equals the smaller. */
  private static <K extends Comparable<K>> Optional<K> most(Map<K, Integer> votes) {
    return votes.entrySet().stream()
        .max(
            Map.Entry.<K, Integer>comparingByValue()
                .thenComparing(Map.Entry.<K, Integer>comparingByKey().reversed()))
        .map(Map.Entry::getKey);
  }

  private static List<Integer> positions(NodeOffer.Offered node, List<GpuUuid> cards) {
    Set<GpuUuid> wanted = new HashSet<>(cards);
    List<Integer> positions = new ArrayList<>();
    List<GpuDevice> devices = node.devices();
    for (int at = 0; at < devices.size(); at++) {
      if (wanted.contains(devices.get(at).uuid())) {
        positions.add(at);
      }
    }
    return positions;
  }

  /** The component to take cards from on this node. */
  Optional<Integer> anchor(String node, NodeOffer.Offered offered) {
    Integer own = anchors.get(node);
    if (own != null) {
      return Optional.of(own);
    }
    int named =
        domain.isEmpty() ? -1 : offered.links().islandNames(offered.rails()).indexOf(domain);
    return named < 0 ? Optional.empty() : Optional.of(named);
  }

  /** Whether any of these cards lies where the pod wants to be on this node. */
  public boolean isNear(String node, NodeOffer offer, Set<GpuUuid> cards) {
    return offer instanceof NodeOffer.Offered offered
        && offered.links().published()
        && anchor(node, offered)
            .filter(
                island ->
                    positions(offered, List.copyOf(cards)).stream()
                        .anyMatch(at -> offered.links().island(at) == island))
            .isPresent();
  }

  /**
   * The rails to be on on this node; none where a sibling is on it already, because the same rail
   * would be the very same card.
   */
  Set<String> railsFor(String node) {
    return anchors.containsKey(node) ? Set.of() : rails;
  }
}
