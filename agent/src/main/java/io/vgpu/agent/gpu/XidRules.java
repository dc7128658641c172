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

  /**
   * Errors after which the driver wants the card reset or the node rebooted, whatever the card
   * answers: memory that cannot be corrected or remapped (48, 64, 95, 140), links (74), off the bus
   * (79), the card's own firmware (119, 120), its start (143), the action asked for by the driver
   * (154). From NVIDIA's catalogue of XIDs.
   */
  private static final Set<Integer> LASTING = Set.of(48, 64, 74, 79, 95, 119, 120, 140, 143, 154);

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

  /** Whether only a reset or a reboot mends a card after this error. */
  public boolean lasting(int xid) {
    return LASTING.contains(xid);
  }

  private static String[] items(String list) {
    return list.toLowerCase(Locale.ROOT).replace(" ", "").split(",", -1);
  }

  private static boolean isNumber(String item) {
    return item.matches("[0-9]{1,9}");
  }
}
