package io.vgpu.e2e.faults;

import io.vgpu.e2e.cluster.Await;
import io.vgpu.e2e.cluster.ClusterException;
import io.vgpu.e2e.product.OurPart;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The steps of a pod's life in the agent, and a kill before each of them. They are not written down
 * anywhere: a pod is watched once, and whatever the agent did outside of itself meanwhile is a
 * step.
 */
final class CrashSteps {
  private static final Duration LIVES = Duration.ofSeconds(60);

  private CrashSteps() {}

  /**
   * Watches one pod from its first question to the end of its notes; {@code LABEL #N} for each
   * step, in order. The agent must have crash points.
   */
  static List<String> watch(Stage stage) throws IOException {
    Path folder = stage.crashFolder();
    Files.writeString(folder.resolve("armed"), "nothing");
    Files.writeString(folder.resolve("trace"), "");
    stage.pods(1);
    if (!stage.scene().awaitSettled(LIVES)) {
      throw new ClusterException("the pod whose steps are watched did not end");
    }
    stage.forgetPods();
    List<String> labels = Files.readAllLines(folder.resolve("trace"));
    Files.delete(folder.resolve("trace"));
    Map<String, Integer> counts = new HashMap<>();
    List<String> steps = new ArrayList<>();
    for (String label : labels) {
      int count = counts.merge(label, 1, Integer::sum);
      if (!label.startsWith("NodePublisher")) { // the node's cards, not the pod's
        steps.add(label + " #" + count);
      }
    }
    if (steps.stream().noneMatch(s -> s.contains("getPreferredAllocation: asked"))) {
      throw new ClusterException("the agent has no crash points: " + labels);
    }
    return steps;
  }

  static Fault fault(int number, String step) {
    return new Fault(
        "agent",
        String.format(java.util.Locale.ROOT, "killed before step %02d %s", number, step),
        stage -> kill(stage, step));
  }

  private static void kill(Stage stage, String step) throws IOException {
    Path armed = stage.crashFolder().resolve("armed");
    Files.writeString(armed, step);
    stage.pods(1);
    boolean dead =
        Await.holdsWithin(
            LIVES,
            () -> {
              stage.forgetEnded();
              return !stage.product().process(OurPart.AGENT).orElseThrow().isAlive();
            });
    Files.delete(armed);
    if (!dead) {
      throw new ClusterException("the agent never came to the step " + step);
    }
    stage.startAgent();
  }
}
