package io.vgpu.agent.gpu;

import java.util.HashSet;
import java.util.Locale;
import java.util.Set;

/**
 * Which critical errors speak against a card (node-agent.md 2.5). Pure.
 *
 * @param watching false: no health check at all
 */
public record XidRules(boolean watching, Set<Integer> ignored) {
  /** Errors of the application, not of the card. */
  public static final Set<Integer> APPLICATION_ERRORS = Set.of(13, 31, 43, 45, 68, 109);

  public XidRules {
    ignored = Set.copyOf(ignored);
  }

  /**
   * {@code disable} and {@code enable} as in {@code DP_DISABLE_HEALTHCHECKS} and {@code
   * DP_ENABLE_HEALTHCHECKS}: comma lists of error numbers, with the words {@code all} and {@code
   * xids}. Malformed items are skipped; enabling wins, except over "disable all".
   */
  public static XidRules parse(String disable, String enable) {
    Set<Integer> ignored = new HashSet<>(APPLICATION_ERRORS);
    boolean watching = true;
    for (String item : items(disable)) {
      if (item.equals("all") || item.equals("xids")) {
        watching = false;
      } else if (isNumber(item)) {
        ignored.add(Integer.parseInt(item));
      }
    }
    boolean everything = false;
    for (String item : items(enable)) {
      if (item.equals("all")) {
        everything = true;
      } else if (isNumber(item)) {
        ignored.remove(Integer.parseInt(item));
      }
    }
    return new XidRules(watching, everything ? Set.of() : ignored);
  }

  /** Whether this error speaks against the card. */
  public boolean counts(int xid) {
    return watching && !ignored.contains(xid);
  }

  private static String[] items(String list) {
    return list.toLowerCase(Locale.ROOT).replace(" ", "").split(",", -1);
  }

  private static boolean isNumber(String item) {
    return item.matches("[0-9]{1,9}");
  }
}
