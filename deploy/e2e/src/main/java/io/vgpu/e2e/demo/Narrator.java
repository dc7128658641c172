package io.vgpu.e2e.demo;

import java.io.PrintStream;
import java.util.Locale;

/**
 * Prints the demo: a heading per subject, a line per step with the time since the beginning, facts
 * indented below.
 */
final class Narrator {
  private final PrintStream out;
  private final long began = System.nanoTime();

  Narrator(PrintStream out) {
    this.out = out;
  }

  void heading(String text) {
    out.println();
    out.println("== " + text);
  }

  void step(String name, String text) {
    out.printf(Locale.ROOT, "%6.1f s  %-9s %s%n", (System.nanoTime() - began) / 1e9, name, text);
  }

  void fact(String text) {
    text.lines().forEach(l -> out.println("                    " + l));
  }

  void line(String text) {
    out.println(text);
  }
}
