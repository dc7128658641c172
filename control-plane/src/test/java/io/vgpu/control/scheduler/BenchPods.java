package io.vgpu.control.scheduler;

import io.vgpu.claim.Names;
import io.vgpu.control.cluster.PodRequest;
import io.vgpu.control.testing.Pods;
import io.vgpu.model.ContainerDemand;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import tools.jackson.databind.node.ObjectNode;

/** Random pods, as records and as the objects that kube-scheduler sends. */
final class BenchPods {
  private BenchPods() {}

  /** What the cluster is filled with: one card each, a small share. */
  static PodRequest small(Random random, String name) {
    return Pods.of(1, 5 + random.nextInt(5) * 5L, 512 + random.nextInt(6) * 256L).request(name);
  }

  /** A random pod as the words of one policy want it. */
  static Asked asked(Random random, String name, Map<String, String> words) {
    Pods pod =
        Pods.of(1 + random.nextInt(4), 5 + random.nextInt(8) * 5L, 512 + random.nextInt(14) * 512L);
    Map<String, String> annotations = new TreeMap<>();
    words.forEach((key, value) -> annotations.put(Names.DEFAULT.domain() + "/" + key, value));
    annotations.forEach(pod::with);
    return new Asked(pod.request(name), json(pod.request(name), annotations), annotations);
  }

  /** Both forms of one pod. */
  record Asked(PodRequest request, ObjectNode json, Map<String, String> annotations) {}

  private static ObjectNode json(PodRequest pod, Map<String, String> annotations) {
    ObjectNode o = ExtenderJson.JSON.createObjectNode();
    ObjectNode meta = o.putObject("metadata");
    meta.put("name", pod.pod().name()).put("namespace", "ns").put("uid", pod.pod().uid());
    meta.put("resourceVersion", "1");
    ObjectNode keys = meta.putObject("annotations");
    annotations.forEach(keys::put);
    var containers = o.putObject("spec").putArray("containers");
    for (ContainerDemand c : pod.demand().containers()) {
      ObjectNode container = containers.addObject().put("name", c.name()).put("image", "cuda");
      container
          .putObject("resources")
          .putObject("limits")
          .put(Names.DEFAULT.vgpuNumber(), Long.toString(c.number()))
          .put(Names.DEFAULT.vgpuCores(), Long.toString(c.cores()))
          .put(Names.DEFAULT.vgpuMemory(), Long.toString(c.memory()));
    }
    return o;
  }
}
