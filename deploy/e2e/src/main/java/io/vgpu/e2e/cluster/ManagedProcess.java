package io.vgpu.e2e.cluster;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * A process in the cluster's network namespace that can be killed, stopped and started again with
 * the same arguments. It outlives this JVM unless ended. Safe for several threads; failures are
 * {@link ClusterException}s with the log's last lines.
 */
public final class ManagedProcess {
  private static final Duration STOP_LIMIT = Duration.ofSeconds(15);
  private static final int TAIL_LINES = 15;

  private final ProcessSpec spec;
  private final String netns;
  private @Nullable Process child;
  private @Nullable RecordedProcess recorded;

  ManagedProcess(ProcessSpec spec, String netns) {
    this.spec = spec;
    this.netns = netns;
  }

  public String name() {
    return spec.name();
  }

  public ProcessSpec spec() {
    return spec;
  }

  /**
   * Starts it; a process that still runs is a programming error. Returns once the kernel has it,
   * not when it is ready.
   */
  public synchronized ManagedProcess start() {
    if (isAlive()) {
      throw new IllegalStateException(spec.name() + " runs already");
    }
    try {
      Files.createDirectories(spec.log().toAbsolutePath().getParent());
      Files.createDirectories(spec.pidFile().toAbsolutePath().getParent());
      // setsid: a Ctrl-C at the terminal is for us, not for the cluster. Both wrappers exec, so the
      // pid stays the same.
      List<String> command =
          new ArrayList<>(List.of("setsid", "nsenter", "--net=/run/netns/" + netns, "--"));
      command.addAll(spec.command());
      ProcessBuilder builder =
          new ProcessBuilder(command)
              .redirectErrorStream(true)
              .redirectInput(ProcessBuilder.Redirect.from(new File("/dev/null")))
              .redirectOutput(ProcessBuilder.Redirect.appendTo(spec.log().toFile()));
      // nothing of the caller's own: a proxy or a kubeconfig named there would lead the cluster
      // astray
      builder.environment().clear();
      builder
          .environment()
          .put("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin");
      builder.environment().put("HOME", System.getProperty("user.home"));
      builder.environment().putAll(spec.environment());
      Process started = builder.start();
      child = started;
      ProcessId id =
          ProcessId.of(started.pid())
              .orElseThrow(() -> new ClusterException(spec.name() + " ended at once" + tail()));
      Files.writeString(spec.pidFile(), id.toString());
      recorded = new RecordedProcess(spec.name(), id, spec.pidFile());
      return this;
    } catch (IOException e) {
      throw new UncheckedIOException("cannot start " + spec.name(), e);
    }
  }

  public synchronized boolean isAlive() {
    return recorded != null && recorded.isAlive();
  }

  /** Its identity while it runs; empty before the first start and after its end. */
  public synchronized Optional<ProcessId> id() {
    return Optional.ofNullable(recorded).map(RecordedProcess::id).filter(ProcessId::isAlive);
  }

  /** SIGKILL, and back only when it is gone; nothing when it does not run. */
  public synchronized void kill9() {
    if (recorded != null) {
      recorded.kill9();
      reap();
    }
  }

  /** SIGTERM, SIGKILL after 15 s; nothing when it does not run. */
  public synchronized void stop() {
    if (recorded != null) {
      recorded.stop(STOP_LIMIT);
      reap();
    }
  }

  /** Ends it (gracefully) if it runs and starts it with the same arguments. */
  public synchronized ManagedProcess restart() {
    stop();
    return start();
  }

  /** Exit status of the last run, once it has ended and was started by this object. */
  public synchronized Optional<Integer> exitCode() {
    return child == null || child.isAlive() ? Optional.empty() : Optional.of(child.exitValue());
  }

  /**
   * Waits until the condition holds; ends early, with the log's tail, when the process dies first.
   */
  public void awaitReady(String what, Duration limit, BooleanSupplier condition) {
    boolean[] ready = {false};
    Await.holdsWithin(limit, () -> (ready[0] = condition.getAsBoolean()) || !isAlive());
    if (!ready[0]) {
      String why = isAlive() ? "not within " + limit.toSeconds() + " s" : "the process has ended";
      throw new ClusterException(spec.name() + ": " + what + ": " + why + tail());
    }
  }

  /** Everything it has logged so far, over all its runs. */
  public String log() {
    try {
      return Files.exists(spec.log()) ? Files.readString(spec.log(), StandardCharsets.UTF_8) : "";
    } catch (IOException e) {
      throw new UncheckedIOException("cannot read " + spec.log(), e);
    }
  }

  private String tail() {
    List<String> lines = log().lines().toList();
    List<String> last = lines.subList(Math.max(0, lines.size() - TAIL_LINES), lines.size());
    return "; its log " + spec.log() + " ends with\n" + String.join("\n", last);
  }

  private void reap() {
    if (child != null) {
      try {
        // ours to collect; it is dead already, so this returns at once
        child.waitFor(5, TimeUnit.SECONDS);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
    recorded = null;
  }
}
