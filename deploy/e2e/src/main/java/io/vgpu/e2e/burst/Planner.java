package io.vgpu.e2e.burst;

import io.vgpu.claim.Names;
import io.vgpu.model.ContainerKind;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;

/**
 * Makes a {@link BurstPlan} from a seed. Pure.
 *
 * <p>The waves ask for about what the node has, so that the last slots are fought for; lives are
 * short, so that a burst ends in about two minutes on two cores.
 */
final class Planner {
  private static final int WAVE = 50;
  private static final int BARE_PER_WAVE = 10;
  private static final int WITHOUT_PLUGIN = 3;
  private static final int SECOND_WAVE_MS = 20_000;
  private static final int KILLS_FROM_MS = 800;
  private static final int KILLS_UNTIL_MS = 36_000;
  private static final int LONGEST_DOWN_MS = 1_500;
  private static final Names NAMES = Names.DEFAULT;

  private final Random random;
  private final List<String> cards;

  private Planner(long seed, List<String> cards) {
    this.random = new Random(seed);
    this.cards = cards;
  }

  /** The plan of a seed for a node with these cards (UUIDs, by index). */
  static BurstPlan plan(long seed, List<String> cards) {
    return new Planner(seed, cards).plan(seed);
  }

  private BurstPlan plan(long seed) {
    List<Step> steps = new ArrayList<>();
    wave("a", 0, steps);
    wave("b", SECOND_WAVE_MS, steps);
    for (Victim victim : Victim.values()) {
      int times = 1 + random.nextInt(3);
      for (int i = 0; i < times; i++) {
        steps.add(new Step.Kill(killMoment(), victim, random.nextInt(LONGEST_DOWN_MS + 1)));
      }
    }
    steps.add(new Step.LoseCheckpoint(killMoment(), random.nextInt(LONGEST_DOWN_MS + 1)));
    remakes(steps);
    List<PodPlan> withoutPlugin = new ArrayList<>();
    for (int i = 0; i < WITHOUT_PLUGIN; i++) {
      withoutPlugin.add(
          new PodPlan("early-" + i, false, false, Map.of(), List.of(app("main", number()))));
    }
    return new BurstPlan(seed, withoutPlugin, steps);
  }

  private int killMoment() {
    return KILLS_FROM_MS + random.nextInt(KILLS_UNTIL_MS - KILLS_FROM_MS);
  }

  /** One wave: its pods in random order, some gated, the gates opened in another order. */
  private void wave(String wave, int beginMs, List<Step> steps) {
    List<PodPlan> pods = new ArrayList<>();
    for (int i = 0; i < WAVE; i++) {
      boolean owned = i >= BARE_PER_WAVE;
      String name = String.format(Locale.ROOT, "%s-%s%02d", owned ? "job" : "bare", wave, i);
      pods.add(pod(name, owned, random.nextInt(100) < 30));
    }
    Collections.shuffle(pods, random);
    for (int i = 0; i < pods.size(); i++) {
      // as fast as the API takes them; one thread makes them in this order
      steps.add(new Step.Create(beginMs + i, pods.get(i)));
    }
    for (PodPlan pod : pods) {
      if (pod.gated()) {
        steps.add(new Step.OpenGate(beginMs + 1_000 + random.nextInt(6_000), pod.name()));
      }
    }
  }

  /** Several, some of them upon the same name, soon after their wave began. */
  private void remakes(List<Step> steps) {
    List<Step.Create> bare =
        steps.stream()
            .filter(Step.Create.class::isInstance)
            .map(Step.Create.class::cast)
            .filter(c -> !c.pod().owned() && !c.pod().gated())
            .toList();
    int times = 4 + random.nextInt(3);
    for (int i = 0; i < times; i++) {
      Step.Create victim = bare.get(random.nextInt(bare.size()));
      int at = victim.atMs() + 1_500 + random.nextInt(9_000);
      steps.add(new Step.Remake(at, pod(victim.pod().name(), false, false)));
    }
  }

  private PodPlan pod(String name, boolean owned, boolean gated) {
    return new PodPlan(name, owned, gated, wishes(), asks());
  }

  private List<Ask> asks() {
    int shape = random.nextInt(100);
    int number = number();
    int more = Math.min(3, number + random.nextInt(2));
    if (shape < 50) {
      return List.of(random.nextInt(100) < 6 ? large(number) : app("main", number));
    }
    if (shape < 68) {
      // rule of reuse: who comes after an init container asks for at least as many
      return List.of(ask("prepare", ContainerKind.INIT, number, 0), app("main", more));
    }
    if (shape < 82) {
      return List.of(ask("side", ContainerKind.SIDECAR, number(), 0), app("main", number));
    }
    if (shape < 88) {
      return List.of(
          ask("prepare", ContainerKind.INIT, number, 0),
          ask("side", ContainerKind.SIDECAR, more, 0),
          app("main", number()));
    }
    return List.of(app("left", number), app("right", number()));
  }

  private Ask app(String container, int number) {
    return ask(container, ContainerKind.APP, number, 500 + random.nextInt(3_500));
  }

  /**
   * Most of its cards. Alone in its pod: an init container of that size beside a sidecar on the
   * same cards would fit nowhere.
   */
  private Ask large(int number) {
    return new Ask("main", ContainerKind.APP, number, 60, 20_000, 500 + random.nextInt(3_500));
  }

  private Ask ask(String container, ContainerKind kind, int number, int lifeMs) {
    int cores = random.nextInt(100) < 10 ? 0 : 1 + random.nextInt(20);
    return new Ask(container, kind, number, cores, 256 + random.nextInt(4_096), lifeMs);
  }

  private int number() {
    int n = random.nextInt(100);
    return n < 60 ? 1 : n < 85 ? 2 : 3;
  }

  private Map<String, String> wishes() {
    Map<String, String> wishes = new HashMap<>();
    switch (random.nextInt(8)) {
      case 0 -> wishes.put(NAMES.includeGpuType(), "A100,");
      case 1 -> wishes.put(NAMES.excludeGpuType(), "H100, T4");
      case 2 -> wishes.put(NAMES.includeGpuUuid(), someCards(5));
      case 3 -> wishes.put(NAMES.excludeGpuUuid(), someCards(2));
      default -> {}
    }
    switch (random.nextInt(3)) {
      case 0 -> wishes.put(NAMES.deviceSchedulerPolicy(), "binpack");
      case 1 -> wishes.put(NAMES.deviceSchedulerPolicy(), "spread");
      default -> {}
    }
    return wishes;
  }

  private String someCards(int count) {
    List<String> shuffled = new ArrayList<>(cards);
    Collections.shuffle(shuffled, random);
    return String.join(",", shuffled.subList(0, Math.min(count, shuffled.size())));
  }
}
