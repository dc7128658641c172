package io.vgpu.control.explain;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import org.junit.jupiter.api.Test;

class ExplainStoreTest {
  private static Instant second(int second) {
    return Instant.ofEpochSecond(second);
  }

  @Test
  void theLatestDecisionStaysWhoeverTellsItLast() {
    ExplainStore store = new ExplainStore();
    store.put("ns", "p", second(2), "late");
    store.put("ns", "p", second(1), "early");
    assertThat(store.find("ns", "p")).contains("late");
    store.put("ns", "p", second(3), "later");
    assertThat(store.find("ns", "p")).contains("later");
    assertThat(store.find("other", "p")).isEmpty();
    assertThat(store.size()).isEqualTo(1);
  }

  @Test
  void holdsNoMorePodsThanItMayAndForgetsWhatWasToldLongestAgo() {
    ExplainStore store = new ExplainStore(2, 1_000);
    store.put("ns", "a", second(1), "a");
    store.put("ns", "b", second(2), "b");
    store.put("ns", "a", second(3), "a again");
    store.put("ns", "c", second(4), "c");
    assertThat(store.find("ns", "b")).isEmpty();
    assertThat(store.find("ns", "a")).contains("a again");
    assertThat(store.size()).isEqualTo(2);
  }

  @Test
  void holdsNoMoreTextThanItMay() {
    ExplainStore store = new ExplainStore(100, 10);
    store.put("ns", "a", second(1), "12345");
    store.put("ns", "b", second(2), "12345");
    assertThat(store.size()).isEqualTo(2);
    store.put("ns", "b", second(3), "123456");
    assertThat(store.find("ns", "a")).as("room for the longer text").isEmpty();
    store.put("ns", "huge", second(4), "12345678901");
    assertThat(store.find("ns", "huge")).isEmpty();
    assertThat(store.find("ns", "b")).contains("123456");
  }
}
