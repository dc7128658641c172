package io.vgpu.control.scheduler.policy;

import io.vgpu.control.packing.Room;
import io.vgpu.control.packing.WorkloadModel;
import java.util.Comparator;
import java.util.List;
import java.util.function.Supplier;

/**
 * The node with the least CPU and cards left, the card with the least left. What a policy that
 * looks ahead does while it knows too little of the pods to come.
 */
public final class BestFit implements AllocationPolicy {
  private static final Comparator<CardRank> ORDER =
      Comparator.comparingDouble(CardRank::freeScore).thenComparingInt(CardRank::id);

  private final Supplier<WorkloadModel> model;

  public BestFit(Supplier<WorkloadModel> model) {
    this.model = model;
  }

  @Override
  public String word() {
    return "bestfit";
  }

  @Override
  public boolean ranksNodes() {
    return true;
  }

  /** Whole percents of fullness, so that near ties go to the first name. */
  @Override
  public double score(NodeChoice choice) {
    return Math.floor(100 * model.get().tight(choice.after().get()));
  }

  @Override
  public List<CardRank> order(CardChoice choice) {
    Room room = choice.room().get();
    return choice.sorted(
        Comparator.<CardRank>comparingInt(c -> room.card(c.at())).thenComparing(ORDER));
  }
}
