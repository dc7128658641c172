package io.vgpu.agent.testing;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import io.vgpu.agent.deviceplugin.DeviceIds;
import io.vgpu.agent.kubelet.FakeKubelet;
import io.vgpu.agent.kubelet.FakeKubelet.Result;
import io.vgpu.model.GpuUuid;
import io.vgpu.model.PodRef;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Map;
import java.util.Set;

/**
 * The world of an agent on a machine without Kubernetes ({@code make demo-gpu}): a kubelet and an
 * API server with one node, to which one pod is bound and admitted. Prints, one JSON a line, where
 * they are and then what the agent answered; ends when its input does.
 */
public final class OnePodNode {
  private static final PodRef POD =
      new PodRef("demo", "one", "0e5a11ed-0000-4000-8000-000000000001");

  private OnePodNode() {}

  /** Arguments: an absolute folder, the node's name, MiB, percent. */
  public static void main(String[] args) throws Exception {
    int memoryMiB = Integer.parseInt(args[2]);
    int cores = Integer.parseInt(args[3]);
    try (SmallNode node = new SmallNode(Path.of(args[0]), args[1], false)) {
      FakeKubelet kubelet = node.kubelet();
      say(
          new JsonObject()
              .put("kubeconfig", node.kubeconfig().toString())
              .put("plugins", kubelet.pluginDir().toString())
              .put("podResources", kubelet.podResourcesSocket().toString())
              .put("claimKey", node.claimKey().toString()));
      var unused = kubelet.nextRegistration();
      String first = kubelet.nextList().keySet().stream().sorted().findFirst().orElseThrow();
      GpuUuid card = DeviceIds.gpu(first).orElseThrow();
      BoundPod pod = new BoundPod(POD, card, cores, memoryMiB);
      say(answer(kubelet, pod, node.admit(pod)));
      try (var in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
        while (in.readLine() != null) {
          // whoever started this says nothing, and closes when it is done
        }
      }
    }
  }

  private static JsonObject answer(FakeKubelet kubelet, BoundPod pod, Result result) {
    return switch (result) {
      case Result.Rejected(String message) -> new JsonObject().put("refused", message);
      case Result.Admitted(var answers) -> {
        Set<String> ids = kubelet.held(pod.ref().uid(), BoundPod.CONTAINER);
        var answer = answers.get(BoundPod.CONTAINER);
        if (answer == null) {
          throw new IllegalStateException("the kubelet did not ask for " + BoundPod.CONTAINER);
        }
        JsonArray mounts = new JsonArray();
        answer
            .getMountsList()
            .forEach(
                m ->
                    mounts.add(
                        new JsonObject()
                            .put("container", m.getContainerPath())
                            .put("host", m.getHostPath())
                            .put("readOnly", m.getReadOnly())));
        yield new JsonObject()
            .put("card", pod.card().value())
            .put("podUid", pod.ref().uid())
            .put("name", BoundPod.CONTAINER)
            .put("refused", kubelet.preStart(ids))
            .put("environment", new JsonObject(Map.copyOf(answer.getEnvsMap())))
            .put("mounts", mounts);
      }
    };
  }

  private static void say(JsonObject line) {
    System.out.println(line.encode());
    System.out.flush();
  }
}
