package io.vgpu.control.cli;

import java.io.PrintWriter;

/** One line that says how far a long run is; silent where nobody watches. One thread. */
final class ProgressBar {
  private static final int WIDTH = 30;
  private static final int STEPS = 100;

  private final PrintWriter to;
  private final boolean terminal;
  private String shown = "";

  ProgressBar(PrintWriter to, boolean terminal) {
    this.to = to;
    this.terminal = terminal;
  }

  /** {@code done} of {@code all}. */
  void show(String what, int done, int all) {
    if (!terminal || all == 0) {
      return;
    }
    int percent = (int) ((long) done * STEPS / all);
    int full = percent * WIDTH / STEPS;
    String line = "[" + "#".repeat(full) + " ".repeat(WIDTH - full) + "] " + percent + " % " + what;
    if (!line.equals(shown)) {
      to.print("\r" + line + " ".repeat(Math.max(0, shown.length() - line.length())));
      to.flush();
      shown = line;
    }
  }

  /** Takes the line away. */
  void clear() {
    if (!shown.isEmpty()) {
      to.print("\r" + " ".repeat(shown.length()) + "\r");
      to.flush();
      shown = "";
    }
  }
}
