package io.vgpu.control.cli;

import io.vgpu.runtime.UsageException;
import java.util.ArrayList;
import java.util.List;

/** Reads lists of seeds: {@code 42}, {@code 42,7}, {@code 42-51}. Pure. */
final class Seeds {
  private static final int MOST = 1000;

  private Seeds() {}

  /** Throws {@link UsageException}. */
  static List<Long> parse(String text) {
    List<Long> seeds = new ArrayList<>();
    for (String part : text.split(",", -1)) {
      String[] ends = part.strip().split("-", -1);
      if (ends.length > 2) {
        throw wrong(text);
      }
      long from = number(ends[0], text);
      long to = number(ends[ends.length - 1], text);
      if (to < from || to - from >= MOST || seeds.size() + (to - from) >= MOST) {
        throw wrong(text);
      }
      for (long seed = from; seed <= to; seed++) {
        seeds.add(seed);
      }
    }
    return seeds;
  }

  private static long number(String digits, String text) {
    if (!digits.matches("[0-9]{1,15}")) {
      throw wrong(text);
    }
    return Long.parseLong(digits);
  }

  private static UsageException wrong(String text) {
    return new UsageException(
        "--seeds \"" + text + "\": must be whole numbers, by commas or from-to, at most " + MOST);
  }
}
