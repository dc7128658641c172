package io.vgpu.control.scheduler;

import io.vgpu.control.cluster.NameIndex;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.AbstractList;
import java.util.Arrays;
import java.util.List;

/**
 * Node names as they stand in JSON text, so that a request's thousands of names are neither read
 * into strings nor written anew. Immutable; any thread.
 */
final class NameList extends AbstractList<String> {
  private final byte[] json;

  /** First byte of each name and the byte behind it, without the quotes around it. */
  private final int[] spans;

  private final int size;
  private final boolean plain;

  /** {@code plain}: the bytes between the quotes are the name itself. */
  private NameList(byte[] json, int[] spans, int size, boolean plain) {
    this.json = json;
    this.spans = spans;
    this.size = size;
    this.plain = plain;
  }

  /** Of names that are no part of a text. */
  static NameList of(List<String> names) {
    ByteArrayOutputStream json = new ByteArrayOutputStream();
    int[] spans = new int[2 * names.size()];
    for (int i = 0; i < names.size(); i++) {
      byte[] quoted = ExtenderJson.JSON.writeValueAsBytes(names.get(i));
      spans[2 * i] = json.size() + 1;
      json.writeBytes(quoted);
      spans[2 * i + 1] = json.size() - 1;
    }
    return new NameList(json.toByteArray(), spans, names.size(), false);
  }

  /**
   * Finds the strings of a JSON array in a text.
   *
   * @param from the byte behind the bracket that opens it
   */
  static Scan scan(byte[] json, int from) {
    return new Scan(json, from);
  }

  /** One pass over an array of plain strings: what is not quite that is left to a JSON parser. */
  static final class Scan {
    /** Bytes of a short name with what is around it. */
    private static final int A_NAME = 12;

    private final byte[] json;
    private int[] spans;
    private int size;
    private int at;
    private final boolean sound;

    private Scan(byte[] json, int from) {
      this.json = json;
      this.spans = new int[2 * (16 + (json.length - from) / A_NAME)];
      this.at = from;
      this.sound = run();
    }

    private boolean run() {
      if (peek() == ']') {
        at++;
        return true;
      }
      while (peek() == '"') {
        int start = ++at;
        while (at < json.length && isPlain(json[at])) {
          at++;
        }
        if (at >= json.length || json[at] != '"') {
          return false;
        }
        add(start, at++);
        int next = peek();
        at++;
        if (next == ']') {
          return true;
        }
        if (next != ',') {
          return false;
        }
      }
      return false;
    }

    /** ASCII that JSON has no other way to write but by choice. */
    private static boolean isPlain(byte b) {
      return b >= ' ' && b != '"' && b != '\\';
    }

    /** The next byte that is no space; -1 at the end. */
    private int peek() {
      while (at < json.length
          && (json[at] == ' ' || json[at] == '\n' || json[at] == '\t' || json[at] == '\r')) {
        at++;
      }
      return at < json.length ? json[at] & 0xff : -1;
    }

    private void add(int start, int end) {
      if (2 * size == spans.length) {
        spans = Arrays.copyOf(spans, 2 * spans.length);
      }
      spans[2 * size] = start;
      spans[2 * size + 1] = end;
      size++;
    }

    /** Whether an array of plain strings is all that is left of the object around it. */
    boolean endsTheObject() {
      if (!sound || peek() != '}') {
        return false;
      }
      at++;
      return peek() < 0;
    }

    NameList names() {
      return new NameList(json, spans, size, true);
    }
  }

  /** The same with some of them only. */
  NameList only(int[] positions) {
    int[] some = new int[2 * positions.length];
    for (int i = 0; i < positions.length; i++) {
      some[2 * i] = spans[2 * positions[i]];
      some[2 * i + 1] = spans[2 * positions[i] + 1];
    }
    return new NameList(json, some, positions.length, plain);
  }

  @Override
  public int size() {
    return size;
  }

  @Override
  public String get(int i) {
    int from = spans[2 * i];
    int length = spans[2 * i + 1] - from;
    return plain
        ? new String(json, from, length, StandardCharsets.UTF_8)
        : ExtenderJson.JSON.readValue(json, from - 1, length + 2, String.class);
  }

  /** About how many bytes all names have together, with quotes and commas. */
  int bytes() {
    return size == 0 ? 0 : spans[2 * size - 1] - spans[0] + 2 * size;
  }

  /** The name's place; -1 where it is unknown. */
  int find(int i, NameIndex index) {
    if (plain) {
      return index.find(json, spans[2 * i], spans[2 * i + 1]);
    }
    byte[] name = get(i).getBytes(StandardCharsets.UTF_8);
    return index.find(name, 0, name.length);
  }

  /** Writes the name with its quotes. */
  void write(int i, ByteSink out) {
    out.put(json, spans[2 * i] - 1, spans[2 * i + 1] + 1);
  }
}
