package io.vgpu.model;

import static io.vgpu.model.Checks.check;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * Links between the cards of a node (annotation {@code node-device-topology}, node-agent.md 1.6).
 *
 * @param links per card index, per peer index: the link types of the pair, P2P level first, NVLink
 *     width after it
 */
public record NodeTopology(SortedMap<Integer, SortedMap<Integer, List<Integer>>> links) {
  /** Types run from 1 (cross CPU) to 24 (18 or more NVLinks). */
  public static final int MAX_LINK_TYPE = 24;

  public NodeTopology {
    SortedMap<Integer, SortedMap<Integer, List<Integer>>> copy = new TreeMap<>();
    for (Map.Entry<Integer, SortedMap<Integer, List<Integer>>> card : links.entrySet()) {
      checkIndex(card.getKey());
      SortedMap<Integer, List<Integer>> peers = new TreeMap<>();
      card.getValue()
          .forEach(
              (peer, types) -> {
                checkIndex(peer);
                check(!peer.equals(card.getKey()), "card %d is linked with itself", peer);
                for (int type : types) {
                  check(
                      type >= 0 && type <= MAX_LINK_TYPE,
                      "link type %d: must be 0 to %d",
                      type,
                      MAX_LINK_TYPE);
                }
                peers.put(peer, List.copyOf(new ArrayList<>(types)));
              });
      copy.put(card.getKey(), Collections.unmodifiableSortedMap(peers));
    }
    links = Collections.unmodifiableSortedMap(copy);
  }

  private static void checkIndex(int index) {
    check(
        index >= 0 && index <= DeviceClaim.MAX_INDEX,
        "card index %d: must be 0 to %d",
        index,
        DeviceClaim.MAX_INDEX);
  }
}
