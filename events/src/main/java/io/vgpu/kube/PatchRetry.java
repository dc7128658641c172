package io.vgpu.kube;

import io.fabric8.kubernetes.client.KubernetesClientException;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;

/**
 * Repeats a write that failed for a passing cause: conflict, server time-out, too many requests,
 * lost connection (node-agent.md 1.3). Blocks, so it belongs on virtual threads; what is not
 * passing, or outlasts the tries, is thrown.
 */
public final class PatchRetry {
  private final int tries;
  private final Duration firstPause;

  /** {@code firstPause} doubles after each failure. */
  public PatchRetry(int tries, Duration firstPause) {
    this.tries = tries;
    this.firstPause = firstPause;
  }

  /** Runs the write until it passes, at most {@code tries} times. */
  public <T> T run(Supplier<T> write) {
    Duration pause = firstPause;
    for (int attempt = 1; ; attempt++) {
      try {
        return write.get();
      } catch (KubernetesClientException e) {
        if (attempt >= tries || !isPassing(e)) {
          throw e;
        }
        LockSupport.parkNanos(pause.toNanos());
        pause = pause.multipliedBy(2);
      }
    }
  }

  /** Whether the same request may pass a moment later. */
  public static boolean isPassing(KubernetesClientException e) {
    return switch (e.getCode()) {
      case 409, 429, 500, 502, 503, 504 -> true;
      case 0 -> true; // no answer: connection refused, reset or timed out
      default -> false;
    };
  }
}
