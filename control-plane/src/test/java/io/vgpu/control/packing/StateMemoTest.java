package io.vgpu.control.packing;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class StateMemoTest {
  private static StateMemo.Key key(int cpu) {
    return new StateMemo.Key(cpu, 1, "T4", new int[] {cpu % 1000, 1000});
  }

  @Test
  void keepsWhatIsAskedForAndForgetsTheRest() {
    AtomicInteger computed = new AtomicInteger();
    StateMemo memo =
        new StateMemo(
            100,
            k -> {
              computed.incrementAndGet();
              return k.cpu();
            });
    for (int i = 0; i < 10_000; i++) {
      assertThat(memo.get(key(i))).isEqualTo(i);
      assertThat(memo.get(key(0))).isZero();
      assertThat(memo.size()).isLessThanOrEqualTo(200);
    }
    assertThat(computed).hasValue(10_000);
  }
}
