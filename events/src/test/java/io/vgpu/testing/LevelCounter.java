package io.vgpu.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.support.descriptor.ClassSource;
import org.junit.platform.engine.support.descriptor.MethodSource;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;

/**
 * Writes one line per test, {@code level outcome}, into {@code target/test-levels.txt}, so that a
 * run can say how many tests ran on each level. Every module finds it by the service file in this
 * module's test jar.
 */
public final class LevelCounter implements TestExecutionListener {
  private static final Path FILE = Path.of("target", "test-levels.txt");

  @Override
  public void executionSkipped(TestIdentifier test, String reason) {
    write(test, "skipped");
  }

  @Override
  public void executionFinished(TestIdentifier test, TestExecutionResult result) {
    if (test.isTest() || result.getStatus() == TestExecutionResult.Status.FAILED) {
      write(
          test,
          switch (result.getStatus()) {
            case SUCCESSFUL -> "passed";
            case FAILED -> "failed";
            case ABORTED -> "skipped";
          });
    }
  }

  private static synchronized void write(TestIdentifier test, String outcome) {
    try {
      Files.createDirectories(FILE.getParent());
      Files.writeString(
          FILE,
          level(test) + " " + outcome + "\n",
          StandardOpenOption.CREATE,
          StandardOpenOption.APPEND);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static String level(TestIdentifier test) {
    if (test.getUniqueId().startsWith("[engine:jqwik]")) {
      return "property";
    }
    String type = "";
    String declared = "";
    switch (test.getSource().orElse(null)) {
      case MethodSource method -> {
        type = method.getClassName();
        // an abstract contract's tests run in each implementation's class
        declared = method.getJavaMethod().getDeclaringClass().getName();
      }
      case ClassSource source -> type = source.getClassName();
      case null, default -> {}
    }
    if (type.startsWith("io.vgpu.e2e.") && type.endsWith("IT")) {
      return "real-cluster";
    }
    if (declared.contains("Contract")) {
      return "contract";
    }
    return type.endsWith("IT") || type.endsWith("ComponentTest") ? "component" : "unit";
  }
}
