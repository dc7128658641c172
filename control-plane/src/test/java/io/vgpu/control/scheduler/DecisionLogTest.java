package io.vgpu.control.scheduler;

import static org.assertj.core.api.Assertions.assertThat;

import io.vgpu.control.cluster.PodRequest;
import io.vgpu.control.testing.Pods;
import java.time.Clock;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class DecisionLogTest {
  private final AtomicInteger dropped = new AtomicInteger();
  private final DecisionLog log = new DecisionLog(Clock.systemUTC(), dropped::incrementAndGet);

  private PodRequest failed(int pod) {
    PodRequest request = Pods.of(1, 10, 10).request("p" + pod);
    log.filtered(request, new FilterVerb.Answer.Failed("of no matter", false));
    return request;
  }

  private List<String> since(long sequence, int most) {
    return log.since(sequence, most).stream()
        .map(n -> n.sequence() + n.decision().pod().pod().name())
        .toList();
  }

  @Test
  void tellsWhatWentOnSinceInOrder() {
    PodRequest first = failed(1);
    failed(2);
    assertThat(since(0, 10)).containsExactly("1p1", "2p2");
    log.bound(first, "n1", "", Optional.empty());
    assertThat(since(2, 10)).containsExactly("3p1");
    assertThat(since(0, 1)).as("the earliest first").containsExactly("2p2");
    assertThat(since(3, 10)).isEmpty();
  }

  @Test
  void holdsNoMoreThanItMayAndCountsWhatNobodyHasCollected() {
    for (int i = 0; i < DecisionLog.MOST; i++) {
      failed(i);
    }
    log.since(2, 1); // the first two have been collected
    for (int i = 0; i < 5; i++) {
      failed(DecisionLog.MOST + i);
    }
    assertThat(log.since(0, Integer.MAX_VALUE)).hasSize(DecisionLog.MOST);
    assertThat(dropped).hasValue(3);
  }
}
