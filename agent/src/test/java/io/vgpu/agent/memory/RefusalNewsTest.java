package io.vgpu.agent.memory;

import static org.assertj.core.api.Assertions.assertThat;

import io.vgpu.event.VgpuEvent;
import io.vgpu.event.VgpuEvent.ContainerOutOfMemory;
import io.vgpu.model.ContainerRef;
import io.vgpu.model.GpuUuid;
import io.vgpu.model.PodRef;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class RefusalNewsTest {
  private static final long SECOND_NS = 1_000_000_000L;
  private static final GpuUuid CARD = new GpuUuid("GPU-11111111-2222-3333-4444-555555555555");

  private final List<VgpuEvent> facts = new ArrayList<>();
  private final List<String> events = new ArrayList<>();
  private long now;
  private final RefusalNews news =
      new RefusalNews(
          "n1",
          facts::add,
          (pod, reason, text) -> events.add(pod.name() + " " + text),
          Clock.fixed(Instant.EPOCH, ZoneOffset.UTC),
          () -> now);

  private static MemoryRefusal refusal(String pod, long count) {
    return new MemoryRefusal(
        new ContainerRef(new PodRef("ns", pod, "uid-" + pod), "main"), CARD, count, 4096);
  }

  private static String text(String pod, long count) {
    return pod
        + " container main: "
        + count
        + " allocations of device memory refused so far on "
        + CARD
        + ", the last of 4096 bytes";
  }

  @Test
  void aPodHearsOfItOnceAMinuteWithTheCountSoFar() {
    for (int second = 0; second <= 60; second++) {
      now = second * SECOND_NS;
      news.tell(second < 30 ? List.of(refusal("a", 1 + second)) : List.of());
      assertThat(events).as("after %d s", second).hasSize(second < 60 ? 1 : 2);
    }
    assertThat(events).containsExactly(text("a", 1), text("a", 30));
    now = 200 * SECOND_NS;
    news.tell(List.of());
    assertThat(events).as("nothing new, nothing said").hasSize(2);
    assertThat(facts).as("a fact for each look that saw one").hasSize(30);
    assertThat(facts.getLast())
        .isEqualTo(
            new ContainerOutOfMemory(
                Instant.EPOCH, "n1", refusal("a", 30).container(), CARD, 30, 4096));
  }

  @Test
  void onePodsMinuteIsNotAnothers() {
    news.tell(List.of(refusal("a", 1), refusal("b", 2)));
    now = 10 * SECOND_NS;
    news.tell(List.of(refusal("a", 3), refusal("c", 4)));
    assertThat(events).containsExactly(text("a", 1), text("b", 2), text("c", 4));
  }

  @Test
  void theTableIsBounded() {
    List<MemoryRefusal> many = new ArrayList<>();
    for (int i = 0; i < RefusalNews.MAX_CONTAINERS + 10; i++) {
      many.add(refusal("p" + i, 1));
    }
    news.tell(many);
    assertThat(events).hasSize(RefusalNews.MAX_CONTAINERS);
    assertThat(facts).hasSize(many.size());
  }
}
