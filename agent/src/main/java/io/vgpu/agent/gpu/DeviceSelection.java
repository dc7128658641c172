package io.vgpu.agent.gpu;

import io.vgpu.runtime.UsageException;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Cards named by index, UUID or range, {@code a..b} or {@code a-b} (node-agent.md 3.1): the
 * original's help shows the second and reads only the first. Pure.
 *
 * @param ids indices in decimal, and UUIDs
 */
public record DeviceSelection(Set<String> ids) {
  public static final DeviceSelection NONE = new DeviceSelection(Set.of());
  private static final int MAX_INDEX = 1023;
  private static final Pattern RANGE = Pattern.compile("([0-9]{1,4})(?:\\.\\.|-)([0-9]{1,4})");
  private static final Pattern LIKE_A_RANGE = Pattern.compile("[0-9]+(?:-[0-9]+)+|.*\\.\\..*");

  public DeviceSelection {
    ids = Set.copyOf(ids);
  }

  /**
   * Reads a comma list; quotes and blanks around an item are dropped, a reversed range is empty.
   * What looks like a range but is none is refused: taken as an id it would exclude nothing,
   * silently.
   */
  public static DeviceSelection parse(String list) {
    return of(List.of(list.split(",", -1)));
  }

  /** Reads the items of a list. */
  public static DeviceSelection of(List<String> items) {
    Set<String> ids = new HashSet<>();
    for (String raw : items) {
      String item = raw.strip().replaceAll("^[\"']+|[\"']+$", "").strip();
      Matcher range = RANGE.matcher(item);
      if (range.matches()) {
        int last = Math.min(Integer.parseInt(range.group(2)), MAX_INDEX);
        for (int i = Integer.parseInt(range.group(1)); i <= last; i++) {
          ids.add(Integer.toString(i));
        }
      } else if (LIKE_A_RANGE.matcher(item).matches()) {
        throw new UsageException(
            "device list: \""
                + item
                + "\": a range must read a..b or a-b, with numbers up to "
                + MAX_INDEX);
      } else if (!item.isEmpty()) {
        ids.add(item);
      }
    }
    return new DeviceSelection(ids);
  }

  /** Whether the card is selected. */
  public boolean names(PhysicalGpu gpu) {
    return ids.contains(Integer.toString(gpu.index())) || ids.contains(gpu.uuid().value());
  }

  @Override
  public String toString() {
    return ids.stream().sorted().toList().toString();
  }
}
