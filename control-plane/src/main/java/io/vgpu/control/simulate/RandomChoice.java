package io.vgpu.control.simulate;

import io.vgpu.control.scheduler.policy.AllocationPolicy;
import io.vgpu.control.scheduler.policy.CardChoice;
import io.vgpu.control.scheduler.policy.CardRank;
import io.vgpu.control.scheduler.policy.NodeChoice;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;

/** Any card that fits, on any node: what every policy must beat. Only for replays; one thread. */
final class RandomChoice implements AllocationPolicy {
  private final Random random;

  RandomChoice(long seed) {
    this.random = new Random(~seed);
  }

  @Override
  public String word() {
    return "random";
  }

  @Override
  public boolean ranksNodes() {
    return false;
  }

  @Override
  public double score(NodeChoice choice) {
    return 0;
  }

  @Override
  public List<CardRank> order(CardChoice choice) {
    List<CardRank> shuffled = new ArrayList<>(choice.candidates());
    Collections.shuffle(shuffled, random);
    return shuffled;
  }

  /** One of them. */
  <T> T any(List<T> of) {
    return of.get(random.nextInt(of.size()));
  }
}
