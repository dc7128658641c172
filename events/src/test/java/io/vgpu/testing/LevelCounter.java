package io.vgpu.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.TestTag;
import org.junit.platform.engine.support.descriptor.ClassSource;
import org.junit.platform.engine.support.descriptor.MethodSource;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;

/**
 * Writes one line per test, {@code level outcome}, into {@code target/test-levels.txt}, so that a
 * run can say how many tests ran on each level, and which were skipped for want of a GPU (tag
 * {@code gpu}) and which for no good reason. Every module finds it by the service file in this
 * module's test jar.
 */
public final class LevelCounter implements TestExecutionListener {
  private static final TestTag GPU = TestTag.create("gpu");

  private final Path file;

  /** For the JUnit platform, which finds this class by its service file. */
  public LevelCounter() {
    this(Path.of("target", "test-levels.txt"));
  }

  LevelCounter(Path file) {
    this.file = file;
  }

  @Override
  public void executionSkipped(TestIdentifier test, String reason) {
    write(test, skipped(test));
  }

  @Override
  public void executionFinished(TestIdentifier test, TestExecutionResult result) {
    // a class that fails or gives up before its first test has no tests to tell of it
    if (test.isTest() || result.getStatus() != TestExecutionResult.Status.SUCCESSFUL) {
      write(
          test,
          switch (result.getStatus()) {
            case SUCCESSFUL -> "passed";
            case FAILED -> "failed";
            case ABORTED -> skipped(test);
          });
    }
  }

  private static String skipped(TestIdentifier test) {
    return test.getTags().contains(GPU) ? "skipped-gpu" : "skipped";
  }

  private synchronized void write(TestIdentifier test, String outcome) {
    try {
      Files.createDirectories(file.getParent());
      Files.writeString(
          file,
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
