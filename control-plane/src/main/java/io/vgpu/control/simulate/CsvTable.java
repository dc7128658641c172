package io.vgpu.control.simulate;

import io.vgpu.runtime.UsageException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * A file of comma-separated values without quoting: a line of names, then rows. Complaints name
 * file, line and field; they are {@link UsageException}s.
 */
final class CsvTable {
  private final Path file;
  private final Map<String, Integer> columns;
  private final List<Row> rows;

  /** One line. */
  final class Row {
    private final int line;
    private final String[] cells;

    private Row(int line, String[] cells) {
      this.line = line;
      this.cells = cells;
    }

    /** The cell's text; empty where the file has no such column. */
    String text(String column) {
      Integer at = columns.get(column);
      return at == null || at >= cells.length ? "" : cells[at].strip();
    }

    /** A whole number within bounds. */
    int number(String column, int least, int most) {
      String text = text(column);
      try {
        int value = Integer.parseInt(text);
        if (value >= least && value <= most) {
          return value;
        }
      } catch (NumberFormatException e) {
        // said below, like a number out of bounds
      }
      throw wrong(column, "must be a whole number from " + least + " to " + most);
    }

    /** What is wrong with a cell. */
    UsageException wrong(String column, String rule) {
      return new UsageException(
          file + ":" + line + ": " + column + " \"" + shown(text(column)) + "\": " + rule);
    }
  }

  private CsvTable(Path file, String header) {
    this.file = file;
    this.columns = new HashMap<>();
    this.rows = new ArrayList<>();
    String[] names = header.split(",", -1);
    for (int i = 0; i < names.length; i++) {
      columns.put(names[i].strip(), i);
    }
  }

  /** Reads the file; it must have these columns and may have others. */
  static CsvTable read(Path file, String... needed) {
    List<String> lines = lines(file);
    CsvTable table = new CsvTable(file, lines.isEmpty() ? "" : lines.getFirst());
    for (String name : needed) {
      if (!table.columns.containsKey(name)) {
        throw new UsageException(
            file + ":1: no column " + name + ": needed are " + String.join(",", needed));
      }
    }
    for (int i = 1; i < lines.size(); i++) {
      if (lines.get(i).isBlank()) {
        continue;
      }
      String[] cells = lines.get(i).split(",", -1);
      if (cells.length != table.columns.size()) {
        throw new UsageException(
            file
                + ":"
                + (i + 1)
                + ": "
                + cells.length
                + " fields: the first line names "
                + table.columns.size());
      }
      table.rows.add(table.new Row(i + 1, cells));
    }
    return table;
  }

  private static List<String> lines(Path file) {
    try {
      return Files.readAllLines(file, StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UsageException(file + ": cannot be read: " + e);
    }
  }

  private static String shown(String text) {
    return text.length() <= 63 ? text : text.substring(0, 63) + "…";
  }

  List<Row> rows() {
    return rows;
  }

  @Override
  public String toString() {
    return file + Arrays.toString(columns.keySet().toArray());
  }
}
