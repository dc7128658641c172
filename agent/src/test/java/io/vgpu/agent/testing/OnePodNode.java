package io.vgpu.agent.testing;

import io.vertx.core.Vertx;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import io.vgpu.agent.deviceplugin.DeviceIds;
import io.vgpu.agent.kubelet.FakeKubelet;
import io.vgpu.agent.kubelet.FakeKubelet.Result;
import io.vgpu.claim.ClaimCodec;
import io.vgpu.claim.ClaimSeal;
import io.vgpu.claim.Names;
import io.vgpu.model.ContainerClaim;
import io.vgpu.model.ContainerDemand;
import io.vgpu.model.ContainerKind;
import io.vgpu.model.CorePercent;
import io.vgpu.model.DeviceClaim;
import io.vgpu.model.GpuUuid;
import io.vgpu.model.MemoryMiB;
import io.vgpu.model.PodClaim;
import io.vgpu.model.PodDemand;
import io.vgpu.model.PodRef;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/**
 * The world of an agent on a machine without Kubernetes ({@code make demo-gpu}): a kubelet and an
 * API server with one node, to which one pod is bound and admitted. Prints, one JSON a line, where
 * they are and then what the agent answered; ends when its input does.
 */
public final class OnePodNode {
  private static final Names NAMES = Names.DEFAULT;
  private static final String KEY = "0123456789abcdef0123456789abcdef";
  private static final PodRef POD =
      new PodRef("demo", "one", "0e5a11ed-0000-4000-8000-000000000001");
  private static final String CONTAINER = "main";
  private static final long BOUND = 20;

  private final String node;
  private final int memoryMiB;
  private final int cores;

  private OnePodNode(String node, int memoryMiB, int cores) {
    this.node = node;
    this.memoryMiB = memoryMiB;
    this.cores = cores;
  }

  /** Arguments: an absolute folder, the node's name, MiB, percent. */
  public static void main(String[] args) throws Exception {
    new OnePodNode(args[1], Integer.parseInt(args[2]), Integer.parseInt(args[3]))
        .run(Path.of(args[0]));
  }

  private void run(Path dir) throws Exception {
    Vertx vertx = Vertx.vertx();
    try (OnePodApi api = new OnePodApi(vertx, node);
        FakeKubelet kubelet = new FakeKubelet(dir, NAMES.vgpuNumber(), 1)) {
      kubelet.start();
      Path key = Files.writeString(dir.resolve("claim-key"), KEY + "\n");
      say(
          new JsonObject()
              .put("kubeconfig", kubeconfig(dir, api.url()).toString())
              .put("plugins", kubelet.pluginDir().toString())
              .put("podResources", kubelet.podResourcesSocket().toString())
              .put("claimKey", key.toString()));
      var unused = kubelet.nextRegistration();
      String first = kubelet.nextList().keySet().stream().sorted().findFirst().orElseThrow();
      GpuUuid card = DeviceIds.gpu(first).orElseThrow();
      api.bind(pod(card));
      say(admitted(kubelet, card));
      try (var in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
        while (in.readLine() != null) {
          // whoever started this says nothing, and closes when it is done
        }
      }
    } finally {
      vertx.close().toCompletionStage().toCompletableFuture().get(BOUND, TimeUnit.SECONDS);
    }
  }

  private JsonObject admitted(FakeKubelet kubelet, GpuUuid card) {
    PodDemand demand =
        new PodDemand(
            List.of(new ContainerDemand(CONTAINER, ContainerKind.APP, 1, cores, memoryMiB)));
    return switch (kubelet.admit(POD, demand)) {
      case Result.Rejected(String message) -> new JsonObject().put("refused", message);
      case Result.Admitted(var answers) -> {
        Set<String> ids = kubelet.held(POD.uid(), CONTAINER);
        var answer = answers.get(CONTAINER);
        if (answer == null) {
          throw new IllegalStateException("the kubelet did not ask for container " + CONTAINER);
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
            .put("card", card.value())
            .put("podUid", POD.uid())
            .put("name", CONTAINER)
            .put("refused", kubelet.preStart(ids))
            .put("environment", new JsonObject(Map.copyOf(answer.getEnvsMap())))
            .put("mounts", mounts);
      }
    };
  }

  private JsonObject pod(GpuUuid card) {
    PodClaim claim =
        new PodClaim(
            List.of(
                new ContainerClaim(
                    CONTAINER,
                    List.of(
                        new DeviceClaim(
                            0, card, new CorePercent(cores), new MemoryMiB(memoryMiB))))));
    JsonObject limits =
        new JsonObject()
            .put(NAMES.vgpuNumber(), "1")
            .put(NAMES.vgpuCores(), Integer.toString(cores))
            .put(NAMES.vgpuMemory(), Integer.toString(memoryMiB));
    return new JsonObject()
        .put("apiVersion", "v1")
        .put("kind", "Pod")
        .put(
            "metadata",
            new JsonObject()
                .put("namespace", POD.namespace())
                .put("name", POD.name())
                .put("uid", POD.uid())
                .put("resourceVersion", "2")
                .put(
                    "annotations",
                    new JsonObject()
                        .put(NAMES.preAllocated(), ClaimCodec.encode(claim))
                        .put(NAMES.claimHmac(), ClaimSeal.parse(KEY).seal(POD.uid(), claim))
                        .put(NAMES.predicateNode(), node)))
        .put(
            "spec",
            new JsonObject()
                .put("nodeName", node)
                .put(
                    "containers",
                    new JsonArray()
                        .add(
                            new JsonObject()
                                .put("name", CONTAINER)
                                .put("resources", new JsonObject().put("limits", limits)))))
        .put("status", new JsonObject().put("phase", "Pending"));
  }

  private static Path kubeconfig(Path dir, String url) throws IOException {
    return Files.writeString(
        dir.resolve("kubeconfig"),
        """
        apiVersion: v1
        kind: Config
        clusters: [{name: c, cluster: {server: "%s"}}]
        users: [{name: u, user: {token: agents-token}}]
        contexts: [{name: x, context: {cluster: c, user: u}}]
        current-context: x
        """
            .formatted(url));
  }

  private static void say(JsonObject line) {
    System.out.println(line.encode());
    System.out.flush();
  }
}
