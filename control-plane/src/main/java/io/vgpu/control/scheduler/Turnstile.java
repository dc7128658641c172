package io.vgpu.control.scheduler;

import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.atomic.AtomicBoolean;

/** Lets in one after the other; so many wait, more are turned away. Any thread. */
final class Turnstile {
  private final int most;
  private final Deque<Promise<Turn>> waiting = new ArrayDeque<>();
  private boolean taken;

  /** The right to be in; ends once. */
  final class Turn {
    private final AtomicBoolean over = new AtomicBoolean();

    /** Lets the next one in; again: nothing. */
    void leave() {
      if (over.compareAndSet(false, true)) {
        next();
      }
    }
  }

  Turnstile(int most) {
    this.most = most;
  }

  /** Completes when it is this one's turn; fails at once where too many wait. */
  Future<Turn> enter() {
    Promise<Turn> turn = Promise.promise();
    synchronized (this) {
      if (taken) {
        if (waiting.size() >= most) {
          return Future.failedFuture(most + " dry runs are waiting, come again");
        }
        waiting.add(turn);
        return turn.future();
      }
      taken = true;
    }
    turn.complete(new Turn());
    return turn.future();
  }

  private void next() {
    Promise<Turn> next;
    synchronized (this) {
      next = waiting.poll();
      taken = next != null;
    }
    if (next != null) {
      next.complete(new Turn());
    }
  }
}
