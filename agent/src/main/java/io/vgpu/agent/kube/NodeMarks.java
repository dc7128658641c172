package io.vgpu.agent.kube;

import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.vgpu.claim.Names;
import io.vgpu.kube.MergePatch;
import io.vgpu.kube.PodDemands;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * What a node's object says of us, for the day on which we leave the node (U33): annotations,
 * labels, resources, and the pods that still hold what we gave. Blocks; failures are the client's
 * exceptions.
 */
public final class NodeMarks {
  private static final Set<String> OVER = Set.of("Succeeded", "Failed");

  private final KubernetesClient client;
  private final String node;
  private final Names names;

  public NodeMarks(KubernetesClient client, String node, Names names) {
    this.client = client;
    this.node = node;
    this.names = names;
  }

  /** Pods of this node, as namespace/name, that have vGPUs and are not over. */
  public List<String> holders() {
    return client
        .pods()
        .inAnyNamespace()
        .withField("spec.nodeName", node)
        .list()
        .getItems()
        .stream()
        .filter(this::holds)
        .map(p -> p.getMetadata().getNamespace() + "/" + p.getMetadata().getName())
        .sorted()
        .toList();
  }

  private boolean holds(Pod pod) {
    return !PodDemands.of(pod, names).vgpuContainers().isEmpty()
        && !(pod.getStatus() != null && OVER.contains(pod.getStatus().getPhase()));
  }

  /** Takes our annotations and labels off the node, in one patch; returns the keys that went. */
  public List<String> remove() {
    Node now = client.nodes().withName(node).get();
    if (now == null) {
      return List.of();
    }
    List<String> annotations =
        present(
            now.getMetadata().getAnnotations(),
            Stream.of(
                names.nodeConfigInfo(),
                names.nodeDeviceRegister(),
                names.nodeDeviceTopology(),
                names.nodeDeviceHeartbeat(),
                names.deviceCordon()));
    List<String> labels =
        present(
            now.getMetadata().getLabels(),
            Stream.of(
                Names.DRIVER_VERSION_LABEL,
                Names.CUDA_VERSION_LABEL,
                Names.CUDA_MAJOR_LABEL,
                Names.CUDA_MINOR_LABEL));
    List<String> removed = new ArrayList<>(annotations);
    removed.addAll(labels);
    if (!removed.isEmpty()) {
      MergePatch.send(
          client,
          "/api/v1/nodes/" + node,
          "{\"metadata\":{\"annotations\":%s,\"labels\":%s}}"
              .formatted(nulls(annotations), nulls(labels)));
    }
    return removed;
  }

  /** Full names of the resources in the node's status that we may have brought there. */
  public List<String> resources() {
    Node now = client.nodes().withName(node).get();
    if (now == null || now.getStatus() == null) {
      return List.of();
    }
    Set<String> ours = new TreeSet<>();
    for (Map<String, ?> side :
        Stream.of(now.getStatus().getCapacity(), now.getStatus().getAllocatable())
            .filter(m -> m != null)
            .toList()) {
      side.keySet().stream()
          .filter(r -> names.resources().contains(r) || r.startsWith(names.domain() + "/mig-"))
          .forEach(ours::add);
    }
    return List.copyOf(ours);
  }

  private static List<String> present(@Nullable Map<String, String> map, Stream<String> keys) {
    return map == null ? List.of() : keys.filter(map::containsKey).toList();
  }

  private static String nulls(List<String> keys) {
    return keys.stream().map(k -> "\"" + k + "\":null").collect(Collectors.joining(",", "{", "}"));
  }
}
