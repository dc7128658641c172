package io.vgpu.control.webhook;

import java.util.List;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** Applies a patch the way the API server does, strictly by RFC 6902. */
final class JsonPatches {
  private JsonPatches() {}

  static ObjectNode apply(ObjectNode original, List<PatchOp> patch) {
    ObjectNode result = original.deepCopy();
    for (PatchOp op : patch) {
      apply(result, op);
    }
    return result;
  }

  private static void apply(ObjectNode root, PatchOp op) {
    String[] steps = op.path().substring(1).split("/", -1);
    JsonNode parent = root;
    for (int i = 0; i < steps.length - 1; i++) {
      parent =
          parent instanceof ArrayNode array
              ? array.get(Integer.parseInt(steps[i]))
              : parent.get(unescape(steps[i]));
      if (parent == null) {
        throw new AssertionError(op + ": no parent at " + steps[i]);
      }
    }
    String last = unescape(steps[steps.length - 1]);
    if (!(parent instanceof ObjectNode object)) {
      throw new AssertionError(op + ": parent is no object");
    }
    if (op.kind() != PatchOp.Kind.ADD && !object.has(last)) {
      throw new AssertionError(op + ": target is missing");
    }
    if (op.kind() == PatchOp.Kind.REMOVE) {
      object.remove(last);
    } else {
      object.set(last, op.value());
    }
  }

  private static String unescape(String step) {
    return step.replace("~1", "/").replace("~0", "~");
  }
}
