package io.vgpu.control.scheduler;

import io.vgpu.claim.FormatException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;

/**
 * Where the parts of a dry run's body are: tens of megabytes of nodes are walked over, not built
 * into a tree. Pure.
 *
 * @param nodes each element of {@code Nodes.items}
 * @param listFields the other fields of {@code Nodes}
 * @param namesSent {@code NodeNames} has an entry
 */
record DryRunBody(
    Optional<Span> pod, List<Span> nodes, Map<String, Span> listFields, boolean namesSent) {
  /** A part of the body. */
  record Span(int from, int length) {}

  /** Finds the parts; throws {@link FormatException}. */
  static DryRunBody read(byte[] body) {
    try (JsonParser parser = ExtenderJson.JSON.createParser(body)) {
      return new Walk(parser).read();
    } catch (JacksonException e) {
      throw new FormatException("request body is not JSON: " + e.getOriginalMessage(), e);
    }
  }

  private static final class Walk {
    private final JsonParser parser;
    private Optional<Span> pod = Optional.empty();
    private final List<Span> nodes = new ArrayList<>();
    private final Map<String, Span> listFields = new LinkedHashMap<>();
    private boolean namesSent;

    Walk(JsonParser parser) {
      this.parser = parser;
    }

    DryRunBody read() {
      if (parser.nextToken() != JsonToken.START_OBJECT) {
        throw new FormatException("ExtenderArgs: must be a JSON object");
      }
      while (parser.nextToken() == JsonToken.PROPERTY_NAME) {
        String name = parser.currentName();
        JsonToken value = parser.nextToken();
        if (name.equalsIgnoreCase("Pod")) {
          pod = value == JsonToken.VALUE_NULL ? Optional.empty() : Optional.of(span());
        } else if (name.equalsIgnoreCase("Nodes")) {
          list(value);
        } else if (name.equalsIgnoreCase("NodeNames")) {
          namesSent = span().length() > "null".length();
        } else {
          parser.skipChildren();
        }
      }
      if (parser.nextToken() != null) {
        throw new FormatException("request body is not JSON: something follows the object");
      }
      return new DryRunBody(pod, List.copyOf(nodes), listFields, namesSent);
    }

    private void list(JsonToken value) {
      if (value == JsonToken.VALUE_NULL) {
        return;
      }
      if (value != JsonToken.START_OBJECT) {
        throw new FormatException("Nodes: must be a JSON object");
      }
      while (parser.nextToken() == JsonToken.PROPERTY_NAME) {
        String name = parser.currentName();
        JsonToken inner = parser.nextToken();
        if (!name.equalsIgnoreCase("items")) {
          listFields.put(name, span());
        } else if (inner == JsonToken.START_ARRAY) {
          items();
        } else if (inner != JsonToken.VALUE_NULL) {
          throw new FormatException("Nodes.items: must be a list");
        }
      }
    }

    private void items() {
      JsonToken token = parser.nextToken();
      while (token != JsonToken.END_ARRAY) {
        if (token != JsonToken.START_OBJECT) {
          throw new FormatException("Nodes.items[" + nodes.size() + "]: must be a JSON object");
        }
        nodes.add(span());
        token = parser.nextToken();
      }
    }

    /** The value that the parser stands on, and goes past. */
    private Span span() {
      int from = (int) parser.currentTokenLocation().getByteOffset();
      parser.skipChildren();
      parser.finishToken();
      return new Span(from, (int) parser.currentLocation().getByteOffset() - from);
    }
  }
}
