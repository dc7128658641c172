package io.vgpu.control.kube;

import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Quantity;
import io.vgpu.claim.Names;
import io.vgpu.control.cluster.Host;
import io.vgpu.control.cluster.NodeRecord;
import io.vgpu.control.cluster.PodRecord;
import io.vgpu.control.cluster.PodRequest;
import io.vgpu.control.cluster.Wishes;
import io.vgpu.kube.PodDemands;
import io.vgpu.model.ContainerDemand;
import io.vgpu.model.PodDemand;
import io.vgpu.model.PodRef;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Takes from Kubernetes objects what the scheduler keeps. Pure. */
public final class SlimRecords {
  private static final PodDemand NO_DEMAND = new PodDemand(List.of());

  private final Names names;
  private final boolean topology;

  /**
   * @param topology whether the links that nodes publish are looked at
   */
  public SlimRecords(Names names, boolean topology) {
    this.names = names;
    this.topology = topology;
  }

  /** A node. */
  public NodeRecord node(Node node) {
    Map<String, String> annotations = annotations(node.getMetadata());
    Map<String, Quantity> allocatable =
        node.getStatus() == null || node.getStatus().getAllocatable() == null
            ? Map.of()
            : node.getStatus().getAllocatable();
    return new NodeRecord(
        node.getMetadata().getName(),
        PodDemands.whole(allocatable.get(names.vgpuNumber())),
        annotations.get(names.nodeDeviceRegister()),
        annotations.get(names.nodeConfigInfo()),
        allocatable.containsKey("cpu") ? HostRequests.host(allocatable) : Host.PLENTY,
        topology ? annotations.get(names.nodeDeviceTopology()) : null,
        topology ? annotations.get(names.nodeGpuDomain()) : null,
        annotations.get(names.deviceCordon()));
  }

  /**
   * A pod as the cluster's state keeps it: whole where it takes part in vGPU scheduling, of all
   * others only where they are and what they request of the host.
   */
  public PodRecord kept(Pod pod) {
    PodRecord record = pod(pod);
    boolean ours =
        record.claim() != null
            || record.request().demand().containers().stream().anyMatch(SlimRecords::asks);
    return ours ? record : bystander(record);
  }

  private static PodRecord bystander(PodRecord pod) {
    PodRequest request = pod.request();
    return new PodRecord(
        new PodRequest(
            request.pod(),
            "",
            NO_DEMAND,
            Wishes.NONE,
            0,
            List.of(),
            request.host(),
            request.traits().withoutLabels()),
        pod.nodeName(),
        pod.terminal(),
        pod.deleting(),
        null,
        null,
        pod.createdMillis());
  }

  /** Whether a container names any of the resources with a number, sound or not. */
  public static boolean asks(ContainerDemand c) {
    return c.number() != 0 || c.cores() != 0 || c.memory() != 0;
  }

  /** Any pod; throws {@link IllegalArgumentException} for one without name, namespace or UID. */
  public PodRecord pod(Pod pod) {
    ObjectMeta meta = pod.getMetadata() == null ? new ObjectMeta() : pod.getMetadata();
    Map<String, String> annotations = annotations(meta);
    PodRequest request =
        new PodRequest(
            new PodRef(text(meta.getNamespace()), text(meta.getName()), text(meta.getUid())),
            text(meta.getResourceVersion()),
            PodDemands.of(pod, names),
            Wishes.of(annotations, names),
            bytes(annotations),
            zeroNumber(pod),
            HostRequests.of(pod),
            TraitsReader.read(pod));
    String node = pod.getSpec() == null ? null : pod.getSpec().getNodeName();
    String phase = pod.getStatus() == null ? null : pod.getStatus().getPhase();
    return new PodRecord(
        request,
        node == null || node.isEmpty() ? null : node,
        "Succeeded".equals(phase) || "Failed".equals(phase),
        meta.getDeletionTimestamp() != null,
        annotations.get(names.preAllocated()),
        annotations.get(names.claimHmac()),
        millis(meta.getCreationTimestamp()));
  }

  private List<String> zeroNumber(Pod pod) {
    List<String> containers = new ArrayList<>();
    if (pod.getSpec() != null) {
      List<Container> all = new ArrayList<>(pod.getSpec().getInitContainers());
      all.addAll(pod.getSpec().getContainers());
      for (Container c : all) {
        Map<String, Quantity> limits =
            c.getResources() == null || c.getResources().getLimits() == null
                ? Map.of()
                : c.getResources().getLimits();
        Quantity number = limits.get(names.vgpuNumber());
        if (number != null && PodDemands.whole(number) == 0) {
          containers.add(c.getName());
        }
      }
    }
    return containers;
  }

  private static Map<String, String> annotations(@Nullable ObjectMeta meta) {
    return meta == null || meta.getAnnotations() == null ? Map.of() : meta.getAnnotations();
  }

  private static int bytes(Map<String, String> annotations) {
    long sum = 0;
    for (Map.Entry<String, String> e : annotations.entrySet()) {
      sum += e.getKey().getBytes(StandardCharsets.UTF_8).length;
      sum += text(e.getValue()).getBytes(StandardCharsets.UTF_8).length;
    }
    return (int) Math.min(sum, Integer.MAX_VALUE);
  }

  /** Of the API server's way to write a time; 0 for what is not one. */
  private static long millis(@Nullable String time) {
    try {
      return time == null || time.isEmpty() ? 0 : Instant.parse(time).toEpochMilli();
    } catch (DateTimeParseException e) {
      return 0;
    }
  }

  private static String text(@Nullable String value) {
    return value == null ? "" : value;
  }
}
