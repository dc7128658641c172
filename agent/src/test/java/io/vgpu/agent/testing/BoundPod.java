package io.vgpu.agent.testing;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
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
import java.util.List;

/** A pod with one container and one sealed share of a card, as the scheduler leaves it. */
public record BoundPod(PodRef ref, GpuUuid card, int cores, int memoryMiB) {
  public static final String CONTAINER = "main";
  public static final String KEY = "0123456789abcdef0123456789abcdef";
  private static final Names NAMES = Names.DEFAULT;

  /** What its containers ask for. */
  public PodDemand demand() {
    return new PodDemand(
        List.of(new ContainerDemand(CONTAINER, ContainerKind.APP, 1, cores, memoryMiB)));
  }

  /** As the API server shows it before its container runs. */
  public JsonObject json(String node) {
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
                .put("namespace", ref.namespace())
                .put("name", ref.name())
                .put("uid", ref.uid())
                .put("resourceVersion", "2")
                .put(
                    "annotations",
                    new JsonObject()
                        .put(NAMES.preAllocated(), ClaimCodec.encode(claim))
                        .put(NAMES.claimHmac(), ClaimSeal.parse(KEY).seal(ref.uid(), claim))
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

  /** As it is when its container runs under this id of the runtime's. */
  public JsonObject running(String node, String containerId) {
    JsonObject status =
        new JsonObject()
            .put("name", CONTAINER)
            .put("containerID", "containerd://" + containerId)
            .put("state", new JsonObject().put("running", new JsonObject()));
    return json(node)
        .put(
            "status",
            new JsonObject()
                .put("phase", "Running")
                .put("containerStatuses", new JsonArray().add(status)));
  }
}
