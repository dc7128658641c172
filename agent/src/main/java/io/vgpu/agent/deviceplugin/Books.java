package io.vgpu.agent.deviceplugin;

import io.vgpu.agent.notes.Checkpoint;
import io.vgpu.model.Reason;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The one place where the present {@link Ledger} lives: changed by one caller at a time, and only
 * after the change is on disk. Reads are of the last written state, any thread.
 */
final class Books {
  private static final Logger log = LoggerFactory.getLogger(Books.class);

  private final Checkpoint<Ledger> checkpoint;
  private final ReentrantLock lock = new ReentrantLock(true);
  private volatile Ledger ledger = Ledger.EMPTY;
  private boolean closed; // guarded by the lock

  Books(Checkpoint<Ledger> checkpoint) {
    this.checkpoint = checkpoint;
  }

  Ledger ledger() {
    return ledger;
  }

  /** Takes what was read at the start. */
  void open(Ledger read) {
    ledger = read;
  }

  /**
   * Runs {@code work} alone, in the order of the calls, or refuses when the deadline comes first.
   */
  <T> Outcome<T> alone(Deadline deadline, Function<Deadline, Outcome<T>> work) {
    try {
      if (!lock.tryLock(deadline.left().toNanos(), TimeUnit.NANOSECONDS)) {
        return Outcome.refused(
            Reason.POD_SOURCES_UNREACHABLE, "an earlier call has not finished yet");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return Outcome.refused(Reason.POD_SOURCES_UNREACHABLE, "the agent is stopping");
    }
    try {
      if (closed) {
        return Outcome.refused(
            Reason.POD_SOURCES_UNREACHABLE, "this agent has ended, its successor answers");
      }
      return work.apply(deadline);
    } finally {
      lock.unlock();
    }
  }

  /**
   * Ends the work: what is under way finishes, within the deadline, nothing begins after it. False
   * when something still runs.
   */
  boolean close(Deadline deadline) {
    Outcome<Boolean> done =
        alone(
            deadline,
            d -> {
              closed = true;
              return Outcome.given(true);
            });
    return done instanceof Outcome.Given<Boolean>;
  }

  /** Writes, then takes as true; under {@link #alone}. A refusal leaves the old state true. */
  Outcome<Ledger> commit(Ledger next, Deadline deadline) {
    if (next.equals(ledger)) {
      return Outcome.given(next);
    }
    if (next.pods().size() > Ledger.MAX_PODS) {
      return Outcome.refused(
          Reason.FILES_NOT_WRITTEN,
          "checkpoint of " + next.pods().size() + " pods: at most " + Ledger.MAX_PODS);
    }
    return switch (deadline.await(
        checkpoint.save(next), Reason.FILES_NOT_WRITTEN, "writing the checkpoint")) {
      case Outcome.Refused<Void> r -> {
        log.error("checkpoint not written [cause: {}]", r.detail());
        yield r.as();
      }
      case Outcome.Given<Void> g -> {
        ledger = next;
        yield Outcome.given(next);
      }
    };
  }
}
