package io.vgpu.control.reschedule;

import io.vgpu.kube.SlimWatch;
import io.vgpu.model.GpuUuid;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Cards whose pods must go (D17): drained ones at once, sick ones after a grace. Since when a card
 * is sick is what this process saw: another leader begins to count anew, which is late, never
 * early. Any thread.
 */
public final class CardsToLeave implements SlimWatch.Listener<NodeCards> {
  private final Clock clock;
  private final Duration grace;
  private final Map<String, Seen> nodes = new ConcurrentHashMap<>();

  private record Seen(NodeCards cards, Map<GpuUuid, Instant> sickSince) {}

  /** {@code grace}: of pods that say nothing themselves. */
  public CardsToLeave(Clock clock, Duration grace) {
    this.clock = clock;
    this.grace = grace;
  }

  @Override
  public void replaced(List<NodeCards> all) {
    Set<String> names = new HashSet<>();
    all.forEach(n -> names.add(n.node()));
    nodes.keySet().retainAll(names);
    all.forEach(this::changed);
  }

  @Override
  public void changed(NodeCards cards) {
    nodes.compute(
        cards.node(),
        (name, before) -> {
          if (cards.nothing()) {
            return null;
          }
          Map<GpuUuid, Instant> since = new HashMap<>();
          for (GpuUuid sick : cards.sick()) {
            Instant known = before == null ? null : before.sickSince().get(sick);
            since.put(sick, known == null ? clock.instant() : known);
          }
          return new Seen(cards, Map.copyOf(since));
        });
  }

  @Override
  public void gone(NodeCards cards) {
    nodes.remove(cards.node());
  }

  /** The nodes that have such cards. */
  public Set<String> nodes() {
    return new TreeSet<>(nodes.keySet());
  }

  /**
   * Why a pod on this node must go, if it must.
   *
   * @param held the cards that it holds
   * @param ownGrace what it says itself about its time on a sick card
   */
  public Optional<String> why(String node, Set<GpuUuid> held, Optional<Duration> ownGrace) {
    Seen seen = nodes.get(node);
    if (seen == null) {
      return Optional.empty();
    }
    Duration patience = ownGrace.orElse(grace);
    for (GpuUuid card : new TreeSet<>(held)) {
      String reason = seen.cards().drained().get(card);
      if (reason != null) {
        return Optional.of("GPU " + card + " is drained" + (reason.isEmpty() ? "" : ": " + reason));
      }
      Instant since = seen.sickSince().get(card);
      if (since != null && !since.plus(patience).isAfter(clock.instant())) {
        return Optional.of("GPU " + card + " is unhealthy since " + since);
      }
    }
    return Optional.empty();
  }
}
