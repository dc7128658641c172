package io.vgpu.e2e.burst;

import io.vgpu.model.ContainerKind;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;

/**
 * Bare pods at once, so small that a hundred of them are bound at once: what the kubelet has still
 * to admit is then what a gap of the agent can hit. Pure.
 */
final class ChangePlan {
  private ChangePlan() {}

  /** So many pods, named by the prefix. */
  static BurstPlan of(String prefix, int pods, long seed) {
    Random random = new Random(seed);
    List<Step> steps = new ArrayList<>();
    for (int i = 0; i < pods; i++) {
      String name = String.format(Locale.ROOT, "%s-%02d", prefix, i);
      steps.add(new Step.Create(i, new PodPlan(name, false, false, Map.of(), asks(random))));
    }
    return new BurstPlan(seed, List.of(), steps);
  }

  private static List<Ask> asks(Random random) {
    int shape = random.nextInt(10);
    if (shape < 7) {
      return List.of(ask("main", ContainerKind.APP, random));
    }
    if (shape < 9) {
      return List.of(
          ask("prepare", ContainerKind.INIT, random), ask("main", ContainerKind.APP, random));
    }
    return List.of(
        ask("side", ContainerKind.SIDECAR, random), ask("main", ContainerKind.APP, random));
  }

  private static Ask ask(String name, ContainerKind kind, Random random) {
    int life = kind == ContainerKind.APP ? 200 + random.nextInt(800) : 0;
    return new Ask(name, kind, 1, 1 + random.nextInt(5), 64 + random.nextInt(512), life);
  }
}
