package io.vgpu.e2e.faults;

import java.io.IOException;

/**
 * One row of the matrix.
 *
 * @param group what is broken
 * @param name unique; as in tables and on the command line
 * @param strikes makes pods, breaks something among them and puts it right again
 */
record Fault(String group, String name, Strike strikes) {
  /** Breaks and mends; returns when nothing is broken any more. */
  @FunctionalInterface
  interface Strike {
    void on(Stage stage) throws IOException;
  }
}
