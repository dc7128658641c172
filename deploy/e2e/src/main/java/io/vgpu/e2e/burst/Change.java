package io.vgpu.e2e.burst;

import java.util.Locale;

/** How one agent comes after the other under a burst. */
enum Change {
  /** The next one is prepared beside it, then it is told to end: a rolling update. */
  UPGRADE("SIGTERM, the next one prepared"),
  /** The next one is prepared beside it when it is killed. */
  KILLED_BESIDE("kill -9, the next one prepared"),
  /** It is killed, and whoever watches over it starts it anew at once. */
  CRASH("kill -9, started anew at once");

  private final String text;

  Change(String text) {
    this.text = text;
  }

  boolean prepared() {
    return this != CRASH;
  }

  /** As on the command line. */
  String word() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  @Override
  public String toString() {
    return text;
  }
}
