package io.vgpu.control.scheduler.topology;

import io.vgpu.control.cluster.NodeOffer;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** The search itself, without the question whether the node published a link. */
public final class SearchProbe {
  private SearchProbe() {}

  /** What was found. */
  public record Found(String cards, boolean spanned) {}

  /** Of an idle node, in the order of its cards. */
  public static Found find(NodeOffer.Offered node, int n) {
    List<Item> items =
        IntStream.range(0, node.devices().size())
            .mapToObj(at -> new Item(at, node.devices().get(at).id(), -1, 100))
            .toList();
    LinkSearch.Plan plan =
        new LinkSearch(node.links(), GroupOrder.ALIKE, SearchLog.SILENT)
            .find(items, Set.of(), n)
            .orElseThrow();
    return new Found(
        plan.cards().stream().map(i -> String.valueOf(i.id())).collect(Collectors.joining(",")),
        plan.spanned());
  }
}
