package io.vgpu.control.webhook;

import static io.vgpu.model.Checks.check;

import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** One operation of a JSON patch (RFC 6902); {@code path} is a JSON pointer. */
public record PatchOp(Kind kind, String path, @Nullable JsonNode value) {
  /** The operations that we need. */
  public enum Kind {
    ADD("add"),
    REPLACE("replace"),
    REMOVE("remove");

    private final String word;

    Kind(String word) {
      this.word = word;
    }
  }

  public PatchOp {
    check(
        (value == null) == (kind == Kind.REMOVE),
        "patch operation %s of %s: only remove has no value",
        kind,
        path);
  }

  /** As it stands in the patch. */
  ObjectNode toJson() {
    ObjectNode op = JsonNodeFactory.instance.objectNode();
    op.put("op", kind.word);
    op.put("path", path);
    if (value != null) {
      op.set("value", value);
    }
    return op;
  }
}
