package io.vgpu.agent.gpu;

import io.vgpu.agent.gpu.GpuInventory.Card;
import io.vgpu.agent.gpu.PhysicalGpu.MigDevice;
import io.vgpu.runtime.UsageException;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What a node makes of cards in MIG mode (node-agent.md 2.12). */
public enum MigStrategy {
  /** Slices are nobody's. */
  NONE,
  /** The node has slices of one kind and nothing else. */
  SINGLE,
  /** Slices by profile beside cards that are shared. */
  MIXED;

  private static final Logger log = LoggerFactory.getLogger(MigStrategy.class);

  /** The size and kind of a slice; slices of one profile on different cards may differ. */
  private record Kind(String profile, int multiprocessors, long memoryMiB) {}

  /** The strategy that flags and files call by this word. */
  public static Optional<MigStrategy> of(String word) {
    return Arrays.stream(values()).filter(s -> s.word().equals(word)).findFirst();
  }

  public String word() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** Whether slots of whole cards are served beside slices. */
  public boolean sharesCards() {
    return this != SINGLE;
  }

  /** Whether slices are served. */
  public boolean servesSlices() {
    return this != NONE;
  }

  /**
   * Looks whether the node's cards are as the strategy says; a {@link UsageException} names what is
   * not.
   */
  public void check(List<Card> cards) {
    List<PhysicalGpu> empty =
        cards.stream().map(Card::gpu).filter(g -> g.mig() && g.migDevices().isEmpty()).toList();
    switch (this) {
      case NONE -> {}
      case MIXED ->
          empty.forEach(g -> log.warn("card in MIG mode has no slices [gpu: {}]", g.uuid()));
      case SINGLE -> {
        if (!empty.isEmpty()) {
          throw refused("card " + empty.getFirst().uuid() + " in MIG mode has no slices");
        }
        if (cards.stream().noneMatch(c -> c.gpu().mig())) {
          throw refused("the node has no slices, so there is nothing to serve");
        }
        checkAlike(cards);
        cards.stream()
            .filter(c -> c.healthy() && !c.gpu().mig())
            .findFirst()
            .ifPresent(
                c -> {
                  throw refused("card " + c.gpu().uuid() + " is not in MIG mode, others are");
                });
      }
    }
  }

  private static void checkAlike(List<Card> cards) {
    Set<Kind> kinds =
        cards.stream()
            .flatMap(c -> c.gpu().migDevices().stream())
            .map(MigStrategy::kind)
            .collect(Collectors.toSet());
    if (kinds.size() > 1) {
      throw refused("slices must all be of one kind, the node has " + kinds);
    }
  }

  private static Kind kind(MigDevice slice) {
    return new Kind(slice.profile(), slice.multiprocessors(), slice.memoryMiB());
  }

  private static UsageException refused(String why) {
    return new UsageException("--mig-strategy: \"single\": " + why);
  }
}
