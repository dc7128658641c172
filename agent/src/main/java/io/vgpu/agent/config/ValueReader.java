package io.vgpu.agent.config;

import io.vgpu.runtime.UsageException;
import java.util.ArrayList;
import java.util.List;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.StreamReadConstraints;
import tools.jackson.core.StreamReadFeature;
import tools.jackson.core.TokenStreamFactory;
import tools.jackson.core.json.JsonFactory;
import tools.jackson.core.json.JsonReadFeature;
import tools.jackson.dataformat.yaml.YAMLFactory;

/**
 * Reads JSON (comments, trailing commas and bare keys allowed) or YAML into {@link Value}s. Pure.
 */
final class ValueReader {
  private static final int MAX_VALUES = 100_000;
  private static final StreamReadConstraints BOUNDS =
      StreamReadConstraints.builder()
          .maxNestingDepth(16)
          .maxStringLength(64 * 1024)
          .maxNumberLength(64)
          .build();
  private static final TokenStreamFactory JSON =
      JsonFactory.builder()
          .streamReadConstraints(BOUNDS)
          .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
          .enable(JsonReadFeature.ALLOW_JAVA_COMMENTS)
          .enable(JsonReadFeature.ALLOW_TRAILING_COMMA)
          .enable(JsonReadFeature.ALLOW_UNQUOTED_PROPERTY_NAMES)
          .enable(JsonReadFeature.ALLOW_SINGLE_QUOTES)
          .build();
  private static final TokenStreamFactory YAML =
      YAMLFactory.builder()
          .streamReadConstraints(BOUNDS)
          .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
          .build();

  private final JsonParser parser;
  private int count;

  private ValueReader(JsonParser parser) {
    this.parser = parser;
  }

  /** Reads the one value of a text; throws {@link UsageException} with line and cause. */
  static Value read(String text, boolean yaml) {
    try (JsonParser parser = (yaml ? YAML : JSON).createParser(ObjectReadContext.empty(), text)) {
      ValueReader reader = new ValueReader(parser);
      JsonToken first = parser.nextToken();
      if (first == null) {
        throw new UsageException("must not be empty");
      }
      Value value = reader.value(first);
      if (parser.nextToken() != null) {
        throw new UsageException("line " + reader.line() + ": nothing may follow the first value");
      }
      return value;
    } catch (JacksonException e) {
      int line = e.getLocation() == null ? 0 : e.getLocation().getLineNr();
      throw new UsageException((line > 0 ? "line " + line + ": " : "") + e.getOriginalMessage());
    }
  }

  private int line() {
    return parser.currentTokenLocation().getLineNr();
  }

  private Value value(JsonToken token) {
    int line = line();
    if (++count > MAX_VALUES) {
      throw new UsageException("line " + line + ": more than " + MAX_VALUES + " values");
    }
    return switch (token) {
      case START_OBJECT -> fields(line);
      case START_ARRAY -> items(line);
      case VALUE_STRING -> new Value.Scalar(line, Value.Kind.STRING, parser.getString());
      case VALUE_NUMBER_INT, VALUE_NUMBER_FLOAT ->
          new Value.Scalar(line, Value.Kind.NUMBER, parser.getString());
      case VALUE_TRUE, VALUE_FALSE ->
          new Value.Scalar(
              line, Value.Kind.BOOLEAN, token == JsonToken.VALUE_TRUE ? "true" : "false");
      case VALUE_NULL -> new Value.Scalar(line, Value.Kind.NULL, "null");
      case NOT_AVAILABLE, END_OBJECT, END_ARRAY, PROPERTY_NAME, VALUE_EMBEDDED_OBJECT ->
          throw new UsageException("line " + line + ": a value is expected");
    };
  }

  private Value fields(int line) {
    List<Value.Field> fields = new ArrayList<>();
    while (parser.nextToken() == JsonToken.PROPERTY_NAME) {
      String key = parser.currentName();
      int at = line();
      fields.add(new Value.Field(key, at, next()));
    }
    return new Value.Fields(line, fields);
  }

  private Value items(int line) {
    List<Value> items = new ArrayList<>();
    for (JsonToken t = parser.nextToken();
        t != null && t != JsonToken.END_ARRAY;
        t = parser.nextToken()) {
      items.add(value(t));
    }
    return new Value.Items(line, items);
  }

  private Value next() {
    JsonToken token = parser.nextToken();
    if (token == null) {
      throw new UsageException("line " + line() + ": ends too early");
    }
    return value(token);
  }
}
