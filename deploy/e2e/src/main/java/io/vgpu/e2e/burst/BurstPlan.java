package io.vgpu.e2e.burst;

import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/**
 * Everything that one burst does, made from its seed alone ({@link Planner}): the same seed gives
 * the same plan.
 *
 * @param withoutPlugin bare pods that the kubelet admits while no device plugin exists
 * @param steps in the order of their moments
 */
record BurstPlan(long seed, List<PodPlan> withoutPlugin, List<Step> steps) {
  BurstPlan {
    withoutPlugin = List.copyOf(withoutPlugin);
    steps = steps.stream().sorted(Comparator.comparingInt(Step::atMs)).toList();
  }

  /** The pods of both waves, as first planned. */
  List<PodPlan> pods() {
    return only(Step.Create.class).map(Step.Create::pod).toList();
  }

  /** The names of all pods that nobody owns: each must come to its end under its name. */
  List<String> bareNames() {
    return Stream.concat(withoutPlugin.stream(), pods().stream().filter(p -> !p.owned()))
        .map(PodPlan::name)
        .toList();
  }

  /** The names of the Jobs. */
  List<String> jobNames() {
    return pods().stream().filter(PodPlan::owned).map(PodPlan::name).toList();
  }

  /** The steps of one kind, in order. */
  <T extends Step> Stream<T> only(Class<T> kind) {
    return steps.stream().filter(kind::isInstance).map(kind::cast);
  }

  /** When the last step happens. */
  int lengthMs() {
    return steps.isEmpty() ? 0 : steps.getLast().atMs();
  }
}
