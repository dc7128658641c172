package io.vgpu.agent.config;

import java.util.List;

/**
 * A value of a configuration file and the line where it begins, so that errors can name the place.
 */
sealed interface Value {
  int line();

  /** What a scalar was written as. */
  enum Kind {
    STRING,
    NUMBER,
    BOOLEAN,
    NULL
  }

  record Scalar(int line, Kind kind, String text) implements Value {
    @Override
    public String toString() {
      return text;
    }
  }

  record Items(int line, List<Value> values) implements Value {
    public Items {
      values = List.copyOf(values);
    }

    @Override
    public String toString() {
      return values.toString();
    }
  }

  record Fields(int line, List<Field> fields) implements Value {
    public Fields {
      fields = List.copyOf(fields);
    }

    @Override
    public String toString() {
      return fields.toString();
    }
  }

  /** A key with its own line. */
  record Field(String key, int line, Value value) {
    @Override
    public String toString() {
      return key + ": " + value;
    }
  }
}
