package io.vgpu.e2e.faults.point;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * A step of the agent that is about to happen. Who tests it steers by files in one folder: {@code
 * trace}, while it is there, gets a line for each step; {@code armed} names one step, {@code LABEL
 * #N}: before the N-th of that label since it was written, the process kills itself with SIGKILL.
 */
public final class CrashPoint {
  private static final int SIGKILL = 9;

  private static @Nullable CrashPoint instance;

  private final Path trace;
  private final Path armed;
  private final MethodHandle kill;
  private String present = ""; // guarded by this, as what follows
  private final Map<String, Integer> counts = new HashMap<>();

  @SuppressWarnings("restricted") // the launcher allows native access
  private CrashPoint(Path folder) {
    this.trace = folder.resolve("trace");
    this.armed = folder.resolve("armed");
    Linker linker = Linker.nativeLinker();
    this.kill =
        linker.downcallHandle(
            linker.defaultLookup().findOrThrow("kill"),
            FunctionDescriptor.of(
                ValueLayout.JAVA_INT, ValueLayout.JAVA_INT, ValueLayout.JAVA_INT));
  }

  static void open(Path folder) {
    instance = new CrashPoint(folder);
  }

  /** Called by the agent's own methods, before they do it; any thread. */
  public static void at(String label) {
    Objects.requireNonNull(instance).pass(label);
  }

  private synchronized void pass(String label) {
    try {
      if (Files.exists(trace)) {
        Files.writeString(trace, label + "\n", StandardOpenOption.APPEND);
      }
      String wanted = Files.exists(armed) ? Files.readString(armed).strip() : "";
      if (!wanted.equals(present)) {
        present = wanted;
        counts.clear();
      }
      int count = counts.merge(label, 1, Integer::sum);
      if (present.equals(label + " #" + count)) {
        die();
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void die() {
    try {
      int unused = (int) kill.invokeExact((int) ProcessHandle.current().pid(), SIGKILL);
    } catch (Throwable e) {
      throw new IllegalStateException("cannot kill myself", e);
    }
    while (true) {
      LockSupport.park(); // the kernel needs a moment; nothing may be done in it
    }
  }
}
