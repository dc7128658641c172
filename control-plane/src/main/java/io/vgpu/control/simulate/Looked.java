package io.vgpu.control.simulate;

import io.vgpu.control.cluster.PodRequest;
import io.vgpu.control.cluster.Standing;
import io.vgpu.control.scheduler.Allocator;
import io.vgpu.control.scheduler.Assessed;
import io.vgpu.control.scheduler.NodeRanking;
import io.vgpu.control.scheduler.policy.Look;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The allocator's answers, kept until the node changes: of ten thousand arrivals only the last has
 * changed anything, on one node. At most {@value #KINDS} kinds of pods are kept. One thread.
 */
final class Looked implements NodeRanking.Looks {
  private static final int KINDS = 256;

  private final Allocator allocator;
  private final Map<String, Integer> places = new HashMap<>();
  private final Map<Integer, Answer[]> quick = bounded();
  private final Map<Integer, Answer[]> deep = bounded();
  private int kind;

  private record Answer(Standing node, Optional<Assessed> assessed) {}

  Looked(Allocator allocator, Iterable<Standing> nodes) {
    this.allocator = allocator;
    for (Standing node : nodes) {
      places.put(node.node().name(), places.size());
    }
  }

  private static Map<Integer, Answer[]> bounded() {
    return new LinkedHashMap<>(16, 0.75f, true) {
      @Override
      protected boolean removeEldestEntry(Map.Entry<Integer, Answer[]> eldest) {
        return size() > KINDS;
      }
    };
  }

  /** What the next looks are about. */
  void of(SimPod pod) {
    kind = pod.kind();
  }

  @Override
  public Optional<Assessed> at(PodRequest pod, Standing node, Look look) {
    Map<Integer, Answer[]> kept =
        switch (look) {
          case QUICK -> quick;
          case DEEP -> deep;
        };
    @Nullable Answer[] answers = kept.computeIfAbsent(kind, k -> new Answer[places.size()]);
    int place = places.getOrDefault(node.node().name(), 0);
    Answer answer = answers[place];
    if (answer == null || answer.node() != node) {
      answer = new Answer(node, allocator.assess(pod, node, look));
      answers[place] = answer;
    }
    return answer.assessed();
  }
}
