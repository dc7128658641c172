package io.vgpu.control.scheduler.policy;

import io.vgpu.model.Use;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * How nodes are ranked and cards are ordered: a plug-in, which {@link Policies} knows by its word.
 * Pure for one workload model; any thread. It never decides what fits.
 */
public interface AllocationPolicy {
  /** The word used in annotations, metrics and explanations. */
  String word();

  /** Whether {@link #score} tells nodes apart at all. */
  boolean ranksNodes();

  /**
   * How many of the nodes that a quick look found best deserve a deep one; 0 where both looks see
   * the same.
   */
  default int deepNodes() {
    return 0;
  }

  /** Whether {@link #score} looks at the sums alone, so that no card need be chosen for it. */
  default boolean sumsOnly() {
    return false;
  }

  /**
   * {@link #score} of a policy that looks at the sums alone, without an object for each of
   * thousands of nodes.
   */
  default double ofSums(Use total, Use used, Use need, Weights weights) {
    throw new IllegalStateException(word() + " looks at more than the sums");
  }

  /**
   * For quick looks at thousands of nodes; null where the policy has to be asked for an order of
   * cards and for a score.
   */
  default @Nullable Glance glance() {
    return null;
  }

  /**
   * Chooses the cards of a node that a glance of this policy stands at, in {@link #order}, and
   * gives it the {@link #score} of a quick look.
   */
  default double score(Glance glance) {
    throw new IllegalStateException(word() + " has no glance");
  }

  /** How well the pod goes to the node with the cards chosen, higher is better. */
  double score(NodeChoice choice);

  /** Whether {@link #tolls} says anything. */
  default boolean takesTolls() {
    return false;
  }

  /**
   * What a pod that would run on any model loses in score for each thousandth of a card of a model.
   * It depends on the whole cluster, so it is no part of a node's score.
   *
   * @param left of each model in the whole cluster, thousandths of cards
   */
  default Map<String, Double> tolls(Map<String, Long> left) {
    return Map.of();
  }

  /** What the score is made of, in words. */
  default String parts(NodeChoice choice) {
    return choice.load().get().words(choice.weights().get());
  }

  /** All candidates, best first (control-plane.md 3.10). */
  List<CardRank> order(CardChoice choice);

  /** What the scores rest on, for explanations; empty when on the state alone. */
  default String basis() {
    return "";
  }
}
