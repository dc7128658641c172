package io.vgpu.e2e.isolation;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeSet;

/**
 * What an attacking container says of itself.
 *
 * @param limitMiB what a program in it was told of before any attack
 * @param attacks name to whether it succeeded
 */
record Outcomes(String limitMiB, Map<String, Boolean> attacks) {
  private static final String LINE = "ATTACK ";

  static Outcomes parse(String log) {
    String limit = "";
    Map<String, Boolean> attacks = new LinkedHashMap<>();
    for (String line : log.lines().toList()) {
      String[] words = line.split(" ", -1);
      if (line.startsWith("LIMIT ")) {
        limit = words[1];
      } else if (line.startsWith(LINE) && words.length > 2) {
        attacks.put(words[1], words[2].equals("succeeded"));
      }
    }
    return new Outcomes(limit, attacks);
  }

  /** Names of those that did what they wanted. */
  TreeSet<String> succeeded() {
    TreeSet<String> names = new TreeSet<>(attacks.keySet());
    names.removeIf(name -> !attacks.getOrDefault(name, false));
    return names;
  }

  /** All that were tried. */
  TreeSet<String> tried() {
    return new TreeSet<>(attacks.keySet());
  }
}
