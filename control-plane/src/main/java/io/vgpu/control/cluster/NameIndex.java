package io.vgpu.control.cluster;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * Finds a node's place in the snapshot by its name as it stands in a request's bytes, so that no
 * string is made for the thousands of names that each request carries. Places are in the order of
 * names. Immutable; any thread.
 */
public final class NameIndex {
  private final String[] names;
  private final byte[][] bytes;

  /** Place + 1 by hash, 0 where nobody is; at least half of it empty, so that every search ends. */
  private final int[] table;

  /** {@code sorted}: each name once, in order; handed over. */
  NameIndex(String[] sorted) {
    this.names = sorted;
    this.bytes = new byte[sorted.length][];
    this.table = new int[Integer.highestOneBit(Math.max(1, sorted.length)) * 4];
    for (int at = 0; at < sorted.length; at++) {
      byte[] name = sorted[at].getBytes(StandardCharsets.UTF_8);
      bytes[at] = name;
      int slot = hash(name, 0, name.length) & (table.length - 1);
      while (table[slot] != 0) {
        slot = (slot + 1) & (table.length - 1);
      }
      table[slot] = at + 1;
    }
  }

  private static int hash(byte[] text, int from, int to) {
    int hash = 0;
    for (int i = from; i < to; i++) {
      hash = hash * 31 + text[i];
    }
    // names differ at their ends: spread that over the whole table
    hash *= 0x9E3779B9;
    return hash ^ (hash >>> 16);
  }

  /** The place of the name that {@code text} has from {@code from} to {@code to}; -1: unknown. */
  public int find(byte[] text, int from, int to) {
    int slot = hash(text, from, to) & (table.length - 1);
    while (table[slot] != 0) {
      int at = table[slot] - 1;
      if (Arrays.equals(bytes[at], 0, bytes[at].length, text, from, to)) {
        return at;
      }
      slot = (slot + 1) & (table.length - 1);
    }
    return -1;
  }

  int find(String name) {
    byte[] text = name.getBytes(StandardCharsets.UTF_8);
    return find(text, 0, text.length);
  }

  String name(int at) {
    return names[at];
  }

  int size() {
    return names.length;
  }
}
