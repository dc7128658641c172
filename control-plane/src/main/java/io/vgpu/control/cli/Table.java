package io.vgpu.control.cli;

import java.util.ArrayList;
import java.util.List;

/** Columns as wide as their widest cell. */
final class Table {
  private final List<List<String>> rows = new ArrayList<>();

  Table(String... heads) {
    rows.add(List.of(heads));
  }

  void row(String... cells) {
    rows.add(List.of(cells));
  }

  List<String> lines() {
    int columns = rows.getFirst().size();
    int[] width = new int[columns];
    for (List<String> row : rows) {
      for (int i = 0; i < columns; i++) {
        width[i] = Math.max(width[i], row.get(i).length());
      }
    }
    return rows.stream().map(row -> line(row, width)).toList();
  }

  private static String line(List<String> row, int[] width) {
    StringBuilder line = new StringBuilder();
    for (int i = 0; i < row.size(); i++) {
      line.append(row.get(i));
      line.append(" ".repeat(width[i] - row.get(i).length() + 2));
    }
    return line.toString().stripTrailing();
  }
}
