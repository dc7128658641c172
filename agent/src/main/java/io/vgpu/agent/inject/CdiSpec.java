package io.vgpu.agent.inject;

import io.vgpu.agent.inject.DeviceNodes.Node;
import java.util.List;
import java.util.Map;
import tools.jackson.databind.SerializationFeature;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * One specification of the Container Device Interface: what a runtime does to a container that
 * names one of its devices. Pure.
 *
 * @param deviceClass what comes after the vendor in the kind
 * @param devices nodes by device name; each has at least one, as CDI demands of a device's edits
 * @param common what every container with any of the devices gets
 */
record CdiSpec(String deviceClass, Map<String, List<Node>> devices, Edits common) {
  static final String VENDOR = "k8s.device-plugin.nvidia.com";

  /**
   * The first version with all that is used here: host paths of nodes, names that begin with a
   * digit.
   */
  private static final String VERSION = "0.5.0";

  private static final JsonMapper JSON =
      JsonMapper.builder().enable(SerializationFeature.INDENT_OUTPUT).build();

  /** Edits beside a device's own nodes. */
  record Edits(List<String> env, List<Node> nodes, List<DriverFiles.Bind> binds, List<Hook> hooks) {
    static final Edits NONE = new Edits(List.of(), List.of(), List.of(), List.of());

    boolean isEmpty() {
      return env.isEmpty() && nodes.isEmpty() && binds.isEmpty() && hooks.isEmpty();
    }
  }

  /** A program of the host that runs while the container is created. */
  record Hook(String path, List<String> args) {}

  /** The name by which a device is asked for. */
  static String qualifiedName(String deviceClass, String device) {
    return VENDOR + "/" + deviceClass + "=" + device;
  }

  /** The name of the file. */
  String fileName() {
    return VENDOR + "-" + deviceClass + ".json";
  }

  String json() {
    ObjectNode root = JSON.createObjectNode();
    root.put("cdiVersion", VERSION);
    root.put("kind", VENDOR + "/" + deviceClass);
    ArrayNode list = root.putArray("devices");
    devices.forEach(
        (name, nodes) -> {
          ObjectNode device = list.addObject();
          device.put("name", name);
          nodes(device.putObject("containerEdits"), nodes);
        });
    if (!common.isEmpty()) {
      edits(root.putObject("containerEdits"));
    }
    return JSON.writeValueAsString(root) + "\n";
  }

  private void edits(ObjectNode edits) {
    if (!common.env().isEmpty()) {
      ArrayNode env = edits.putArray("env");
      common.env().forEach(env::add);
    }
    nodes(edits, common.nodes());
    if (!common.hooks().isEmpty()) {
      ArrayNode hooks = edits.putArray("hooks");
      for (Hook h : common.hooks()) {
        ObjectNode hook = hooks.addObject().put("hookName", "createContainer");
        hook.put("path", h.path());
        ArrayNode args = hook.putArray("args");
        h.args().forEach(args::add);
      }
    }
    if (!common.binds().isEmpty()) {
      ArrayNode mounts = edits.putArray("mounts");
      for (DriverFiles.Bind b : common.binds()) {
        ObjectNode mount = mounts.addObject();
        mount.put("hostPath", b.hostPath());
        mount.put("containerPath", b.containerPath());
        mount.putArray("options").add("ro").add("nosuid").add("nodev").add("rbind").add("rprivate");
      }
    }
  }

  private static void nodes(ObjectNode edits, List<Node> nodes) {
    if (nodes.isEmpty()) {
      return;
    }
    ArrayNode list = edits.putArray("deviceNodes");
    for (Node n : nodes) {
      ObjectNode node = list.addObject().put("path", n.path());
      node.put("hostPath", n.hostPath());
      node.put("permissions", "rw");
    }
  }
}
