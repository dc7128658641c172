package io.vgpu.agent.testing;

import io.vgpu.agent.deviceplugin.DeviceIds;
import io.vgpu.agent.kubelet.FakeKubelet.Result;
import io.vgpu.model.GpuUuid;
import io.vgpu.model.PodRef;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Lets the agent do once what it does on every node, so that Java can keep what it loaded and
 * linked for the next start (JEP 514): {@code .ci/aot-cache}. Starts it as the product does, admits
 * containers, scrapes, and ends it by SIGTERM, upon which the JVM writes its cache.
 */
public final class AotTraining {
  private static final int PODS = 3;
  private static final int SCRAPES = 5;

  private AotTraining() {}

  /** Arguments: the launcher, an absolute folder, a profile of cards, where the cache goes. */
  public static void main(String[] args) throws Exception {
    Path dir = Path.of(args[1]);
    Path profile = Files.copy(Path.of(args[2]), dir.resolve("cards.gpus"));
    var environment = new HashMap<>(SmallNode.cards(profile, dir.resolve("cards.state")));
    environment.put("VGPU_JAVA_OPTS", "-XX:AOTCacheOutput=" + args[3]);
    try (SmallNode node = new SmallNode(dir, "node", true);
        AgentProcess agent =
            new AgentProcess(Path.of(args[0]), node, dir, Map.copyOf(environment), List.of())) {
      long unused = agent.ready();
      List<GpuUuid> cards =
          node.kubelet().nextList().keySet().stream()
              .flatMap(id -> DeviceIds.gpu(id).stream())
              .distinct()
              .toList();
      for (int i = 0; i < PODS; i++) {
        BoundPod pod =
            new BoundPod(
                new PodRef("n", "p" + i, "00000000-0000-4000-8000-00000000000" + i),
                cards.get(i % cards.size()),
                10,
                1024);
        if (node.admit(pod) instanceof Result.Rejected(String message)) {
          throw new IllegalStateException("not admitted: " + message);
        }
        String refused =
            node.kubelet().preStart(node.kubelet().held(pod.ref().uid(), BoundPod.CONTAINER));
        if (!refused.isEmpty()) {
          throw new IllegalStateException("not started: " + refused);
        }
        node.runs(pod, "c" + i);
      }
      for (int i = 0; i < SCRAPES; i++) {
        int unusedBytes = agent.scrape();
      }
      int status = agent.stop();
      System.err.println(agent.log()); // whoever calls shows it when there is no cache
      System.exit(status == 143 ? 0 : status);
    }
  }
}
