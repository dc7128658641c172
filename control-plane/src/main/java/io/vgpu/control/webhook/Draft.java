package io.vgpu.control.webhook;

import io.vgpu.claim.FormatException;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * A copy of an object that records each change as a JSON patch. The patch names only what changed,
 * so whatever newer API servers put into the object survives, because it is never written again.
 * One thread.
 */
final class Draft {
  private final ObjectNode root;
  private final List<PatchOp> patch = new ArrayList<>();

  Draft(ObjectNode original) {
    this.root = original.deepCopy();
  }

  /** The object with all changes so far. */
  ObjectNode root() {
    return root;
  }

  /** All changes so far. */
  List<PatchOp> patch() {
    return List.copyOf(patch);
  }

  /** Sets a field; objects on the way that are missing or null are added. */
  void set(JsonNode value, String... path) {
    ObjectNode parent = root;
    for (int depth = 1; depth < path.length; depth++) {
      List<String> here = List.of(path).subList(0, depth);
      JsonNode child = child(parent, path[depth - 1]);
      if (child instanceof ArrayNode array) {
        child = array.path(Integer.parseInt(path[depth]));
        depth++;
      }
      if (child.isMissingNode() || child.isNull()) {
        child = JsonNodeFactory.instance.objectNode();
        record(parent, path[depth - 1], here, child);
      }
      if (!(child instanceof ObjectNode object)) {
        throw new FormatException(String.join(".", here) + ": must be an object");
      }
      parent = object;
    }
    record(parent, path[path.length - 1], List.of(path), value);
  }

  /** Removes a field where it is. */
  void remove(String... path) {
    JsonNode parent = root;
    for (String step : List.of(path).subList(0, path.length - 1)) {
      parent = parent.path(step);
    }
    String last = path[path.length - 1];
    if (parent instanceof ObjectNode object && object.has(last)) {
      object.remove(last);
      patch.add(new PatchOp(PatchOp.Kind.REMOVE, pointer(List.of(path)), null));
    }
  }

  private static JsonNode child(ObjectNode parent, String name) {
    return parent.path(name);
  }

  private void record(ObjectNode parent, String name, List<String> path, JsonNode value) {
    PatchOp.Kind kind = parent.has(name) ? PatchOp.Kind.REPLACE : PatchOp.Kind.ADD;
    // the patch holds the value of this moment, while the tree goes on changing
    patch.add(new PatchOp(kind, pointer(path), value.deepCopy()));
    parent.set(name, value);
  }

  private static String pointer(List<String> path) {
    return path.stream()
        .flatMap(step -> Stream.of("/", step.replace("~", "~0").replace("/", "~1")))
        .collect(Collectors.joining());
  }
}
