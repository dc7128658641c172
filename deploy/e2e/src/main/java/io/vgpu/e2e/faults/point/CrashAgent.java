package io.vgpu.e2e.faults.point;

import java.lang.instrument.Instrumentation;
import java.nio.file.Path;

/**
 * The Java agent's entry: {@code -javaagent:vgpu-e2e.jar=FOLDER}. What happens is told to, and read
 * from, the folder ({@link CrashPoint}).
 */
public final class CrashAgent {
  private CrashAgent() {}

  /** Called by the JVM before {@code main}. */
  public static void premain(String folder, Instrumentation instrumentation) {
    CrashPoint.open(Path.of(folder));
    instrumentation.addTransformer(new CrashSites());
  }
}
