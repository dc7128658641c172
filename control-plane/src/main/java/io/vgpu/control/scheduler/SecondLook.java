package io.vgpu.control.scheduler;

import io.vgpu.control.cluster.ClusterSnapshot;
import io.vgpu.kube.TokenBucket;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import java.util.function.Supplier;

/**
 * Looks again, for a moment, before a pod is refused everywhere. kube-scheduler asks as soon as it
 * has heard of a change; when we hear of it later, our refusal would stand until some other event,
 * minutes away. The moment is short and rationed, so that a backlog of pods that truly fit nowhere
 * is not slowed. Blocks its thread, so it belongs on a snapshot reader.
 */
final class SecondLook {
  private static final Duration MOMENT = Duration.ofMillis(150);
  private static final Duration PAUSE = Duration.ofMillis(5);
  private static final double LOOKS_PER_SECOND = 3;
  private static final int LOOKS_AT_ONCE = 6;

  private final Supplier<ClusterSnapshot> snapshots;
  private final LongSupplier nanoTime;
  private final TokenBucket ration;

  SecondLook(Supplier<ClusterSnapshot> snapshots, LongSupplier nanoTime) {
    this.snapshots = snapshots;
    this.nanoTime = nanoTime;
    this.ration = new TokenBucket(LOOKS_PER_SECOND, LOOKS_AT_ONCE, nanoTime);
  }

  /**
   * Judges by the present snapshot, and by each newer one of the next moment while {@code hopeless}
   * holds.
   */
  <A> A judge(Function<ClusterSnapshot, A> judgement, Predicate<A> hopeless) {
    ClusterSnapshot seen = snapshots.get();
    A answer = judgement.apply(seen);
    if (!hopeless.test(answer) || !ration.tryTake()) {
      return answer;
    }
    long end = nanoTime.getAsLong() + MOMENT.toNanos();
    while (hopeless.test(answer) && nanoTime.getAsLong() - end < 0) {
      LockSupport.parkNanos(PAUSE.toNanos());
      ClusterSnapshot now = snapshots.get();
      if (now != seen) {
        seen = now;
        answer = judgement.apply(now);
      }
    }
    return answer;
  }
}
