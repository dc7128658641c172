package io.vgpu.e2e.burst;

/**
 * Reads the log format of the container runtime interface: {@code time stream F|P text}, P for a
 * piece without its line's end. Pure.
 */
final class CriLog {
  private CriLog() {}

  /**
   * What the container wrote to its standard output (complaints stand between its lines otherwise);
   * a last line that is still being written is left out.
   */
  static String text(String log) {
    StringBuilder text = new StringBuilder();
    int complete = log.lastIndexOf('\n') + 1;
    for (String line : log.substring(0, complete).lines().toList()) {
      String[] parts = line.split(" ", 4);
      if (parts.length >= 3 && parts[1].equals("stdout")) {
        text.append(parts.length == 4 ? parts[3] : "");
        if (parts[2].startsWith("F")) {
          text.append('\n');
        }
      }
    }
    return text.toString();
  }
}
