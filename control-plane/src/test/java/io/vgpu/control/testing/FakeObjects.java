package io.vgpu.control.testing;

import io.vgpu.claim.Names;
import io.vgpu.control.cluster.Host;
import io.vgpu.control.cluster.NodeRecord;
import io.vgpu.model.ContainerDemand;
import io.vgpu.model.ContainerKind;
import io.vgpu.model.PodDemand;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Map;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/** Objects as the API server shows them. Pure. */
public final class FakeObjects {
  private static final JsonMapper JSON = JsonMapper.builder().build();

  private FakeObjects() {}

  /** A node as the API shows it. */
  public static ObjectNode node(NodeRecord node) {
    ObjectNode o = JSON.createObjectNode();
    o.put("kind", "Node").put("apiVersion", "v1");
    ObjectNode meta = o.putObject("metadata");
    meta.put("name", node.name());
    ObjectNode annotations = meta.putObject("annotations");
    if (node.register() != null) {
      annotations.put(Names.DEFAULT.nodeDeviceRegister(), node.register());
    }
    if (node.config() != null) {
      annotations.put(Names.DEFAULT.nodeConfigInfo(), node.config());
    }
    if (node.topology() != null) {
      annotations.put(Names.DEFAULT.nodeDeviceTopology(), node.topology());
    }
    if (node.rails() != null) {
      annotations.put(Names.DEFAULT.nodeGpuDomain(), node.rails());
    }
    ObjectNode allocatable = o.putObject("status").putObject("allocatable");
    allocatable.put(Names.DEFAULT.vgpuNumber(), Long.toString(node.allocatable()));
    if (!node.host().equals(Host.PLENTY)) {
      allocatable.put("cpu", node.host().cpuMilli() + "m");
      allocatable.put("memory", node.host().memoryMiB() + "Mi");
    }
    return o;
  }

  /** A pod in namespace {@code ns}; its UID is {@code uid-NAME}. */
  static ObjectNode pod(String name, PodDemand demand, Map<String, String> annotations) {
    ObjectNode o = JSON.createObjectNode();
    o.put("kind", "Pod").put("apiVersion", "v1");
    ObjectNode meta = o.putObject("metadata");
    meta.put("name", name).put("namespace", "ns").put("uid", "uid-" + name);
    ObjectNode keys = meta.putObject("annotations");
    annotations.forEach(keys::put);
    ObjectNode spec = o.putObject("spec");
    var inits = spec.putArray("initContainers");
    var apps = spec.putArray("containers");
    for (ContainerDemand c : demand.containers()) {
      ObjectNode container = c.kind() == ContainerKind.APP ? apps.addObject() : inits.addObject();
      container.put("name", c.name());
      if (c.kind() == ContainerKind.SIDECAR) {
        container.put("restartPolicy", "Always");
      }
      ObjectNode limits = container.putObject("resources").putObject("limits");
      put(limits, Names.DEFAULT.vgpuNumber(), c.number());
      put(limits, Names.DEFAULT.vgpuCores(), c.cores());
      put(limits, Names.DEFAULT.vgpuMemory(), c.memory());
    }
    o.putObject("status").put("phase", "Pending");
    return o;
  }

  private static void put(ObjectNode limits, String resource, long value) {
    if (value != 0) {
      limits.put(resource, Long.toString(value));
    }
  }

  /** A disruption budget over the pods with a label. */
  static ObjectNode budget(
      String policyVersion, String name, String label, String value, int allowed) {
    ObjectNode o = JSON.createObjectNode();
    o.put("kind", "PodDisruptionBudget").put("apiVersion", "policy/" + policyVersion);
    o.putObject("metadata").put("name", name).put("namespace", "ns");
    o.putObject("spec").putObject("selector").putObject("matchLabels").put(label, value);
    o.putObject("status").put("disruptionsAllowed", allowed);
    return o;
  }

  /** All objects of a kind. */
  static ObjectNode list(
      String kind, String policyVersion, long version, Collection<ObjectNode> objects) {
    ObjectNode list = JSON.createObjectNode();
    switch (kind) {
      case "pods" -> list.put("kind", "PodList").put("apiVersion", "v1");
      case "nodes" -> list.put("kind", "NodeList").put("apiVersion", "v1");
      default ->
          list.put("kind", "PodDisruptionBudgetList").put("apiVersion", "policy/" + policyVersion);
    }
    list.putObject("metadata").put("resourceVersion", Long.toString(version));
    var items = list.putArray("items");
    objects.forEach(o -> items.add(o.deepCopy()));
    return list;
  }

  /** The annotations of a pod. */
  public static Map<String, String> annotations(ObjectNode pod) {
    Map<String, String> map = new LinkedHashMap<>();
    for (Map.Entry<String, JsonNode> e : pod.path("metadata").path("annotations").properties()) {
      map.put(e.getKey(), e.getValue().stringValue());
    }
    return map;
  }
}
