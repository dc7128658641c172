package io.vgpu.control.scheduler;

import io.vgpu.control.scheduler.policy.CardRank;
import io.vgpu.control.scheduler.topology.Closeness;
import io.vgpu.control.scheduler.topology.Pick.Picked;
import io.vgpu.model.Reason;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Why a container has its cards. Words are made only where somebody reads them: filter plans
 * thousands of nodes that nobody asks about.
 *
 * @param reused how many cards it takes over from its init container
 * @param chosen the others, in policy order
 * @param candidates all cards it was chosen from, in policy order
 * @param failed by position in the node's list, why a card was none; null where it was one
 * @param topology how close they are, and what was given up
 */
public record Choice(
    String container,
    int reused,
    List<CardRank> chosen,
    List<CardRank> candidates,
    List<@Nullable Reason> failed,
    String policy,
    Picked topology) {
  public Choice {
    chosen = List.copyOf(chosen);
  }

  /** One sentence for people. */
  String words() {
    if (chosen.isEmpty()) {
      return "container " + container + ": the same cards, ids of its init container";
    }
    String cards =
        chosen.stream()
            .map(c -> String.format(Locale.ROOT, "%d (%.1f %% free)", c.id(), c.freeScore()))
            .collect(Collectors.joining(", "));
    return "container "
        + container
        + ": "
        + (reused > 0 ? "its init container's " + reused + " and " : "")
        + (chosen.size() == 1 ? "card " : "cards ")
        + cards
        + " of "
        + candidates.size()
        + " that fit, order "
        + policy
        + (topology.result() == Closeness.NONE ? "" : ", together by " + topology.result().word());
  }
}
