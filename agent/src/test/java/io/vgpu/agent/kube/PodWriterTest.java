package io.vgpu.agent.kube;

import static org.assertj.core.api.Assertions.assertThat;

import io.vgpu.kube.KubeClient;
import io.vgpu.kube.TokenBucket;
import io.vgpu.model.PodRef;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PodWriterTest {
  @TempDir Path dir;

  private static boolean submit(PodWriter writer, int pod) {
    return writer.submit(
        new PodRef("ns", "p" + pod, "uid-" + pod),
        new PodWriter.Change(Map.of("a", "1"), new HashMap<>()));
  }

  @Test
  void marksBeyondTheBurstWaitForTheRateAndNoneIsLost() throws Exception {
    AtomicLong now = new AtomicLong();
    try (FakeApiServer api = new FakeApiServer();
        KubeClient client = api.client(dir);
        PodWriter writer =
            new PodWriter(client.get(), pod -> true, new TokenBucket(1, 2, now::get))) {
      for (int pod = 0; pod < 5; pod++) {
        assertThat(submit(writer, pod)).isTrue();
      }
      api.next("/pods/");
      api.next("/pods/");
      TimeUnit.MILLISECONDS.sleep(200); // for a writer that does not wait
      assertThat(api.unread()).isZero();
      for (int second = 1; second <= 3; second++) {
        now.set(TimeUnit.SECONDS.toNanos(second));
        api.next("/pods/");
        assertThat(api.unread()).isZero();
      }
    }
  }

  @Test
  void theEndDoesNotWaitForTheRate() throws Exception {
    try (FakeApiServer api = new FakeApiServer();
        KubeClient client = api.client(dir)) {
      PodWriter writer = new PodWriter(client.get(), pod -> true, new TokenBucket(1, 1, () -> 0));
      assertThat(submit(writer, 1)).isTrue();
      api.next("/pods/p1");
      assertThat(submit(writer, 2)).isTrue();
      writer.close();
      assertThat(submit(writer, 3)).isFalse();
      TimeUnit.MILLISECONDS.sleep(100);
      assertThat(api.unread()).isZero();
    }
  }
}
