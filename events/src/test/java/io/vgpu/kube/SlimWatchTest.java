package io.vgpu.kube;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.Watch;
import io.fabric8.kubernetes.client.Watcher;
import io.fabric8.kubernetes.client.Watcher.Action;
import io.fabric8.kubernetes.client.WatcherException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class SlimWatchTest {
  /** Answers lists from a script and hands each watch to the test. */
  private static final class Scripted implements SlimSource<ConfigMap> {
    final Deque<Object> pages = new ArrayDeque<>();
    final BlockingQueue<Watcher<ConfigMap>> watchers = new LinkedBlockingQueue<>();
    final List<String> watchedFrom = new ArrayList<>();
    final List<String> askedNext = new ArrayList<>();

    @Override
    @SuppressWarnings("unchecked")
    public synchronized Page<ConfigMap> page(String next) {
      askedNext.add(next);
      Object page = pages.remove();
      if (page instanceof KubernetesClientException e) {
        throw e;
      }
      return (Page<ConfigMap>) page;
    }

    @Override
    public synchronized Watch watch(String version, Watcher<ConfigMap> watcher) {
      watchedFrom.add(version);
      watchers.add(watcher);
      return () -> {};
    }

    Watcher<ConfigMap> nextWatch() throws InterruptedException {
      Watcher<ConfigMap> w = watchers.poll(20, TimeUnit.SECONDS);
      assertThat(w).as("a watch within the bound").isNotNull();
      return w;
    }
  }

  private final Scripted source = new Scripted();
  private final List<String> heard = new ArrayList<>();
  private final SlimWatch<ConfigMap, String> watch =
      new SlimWatch<>(
          "test",
          source,
          m -> name(m),
          new SlimWatch.Listener<>() {
            @Override
            public void replaced(List<String> all) {
              heard.add("all" + all);
            }

            @Override
            public void changed(String record) {
              if (record.equals("poison")) {
                throw new IllegalStateException("the listener's own fault");
              }
              heard.add("+" + record);
            }

            @Override
            public void gone(String record) {
              heard.add("-" + record);
            }
          });

  private static Optional<String> name(ConfigMap map) {
    String name = map.getMetadata().getName();
    if (name.equals("broken")) {
      throw new IllegalArgumentException("cannot be read");
    }
    return name.startsWith("skip") ? Optional.empty() : Optional.of(name);
  }

  @AfterEach
  void close() {
    watch.close();
  }

  private static ConfigMap map(String name, String version) {
    return new ConfigMapBuilder()
        .withNewMetadata()
        .withName(name)
        .withResourceVersion(version)
        .endMetadata()
        .build();
  }

  private static SlimSource.Page<ConfigMap> page(String next, String version, String... names) {
    List<ConfigMap> items = new ArrayList<>();
    for (String n : names) {
      items.add(map(n, version));
    }
    return new SlimSource.Page<>(items, next, version);
  }

  @Test
  void listsInPagesThenFollows() throws Exception {
    source.pages.add(page("more", "7", "a", "skip-me"));
    source.pages.add(page("", "7", "b"));
    watch.start();
    Watcher<ConfigMap> w = source.nextWatch();
    assertThat(watch.synced()).isTrue();
    w.eventReceived(Action.ADDED, map("c", "8"));
    w.eventReceived(Action.MODIFIED, map("skip-too", "9"));
    w.eventReceived(Action.DELETED, map("a", "10"));
    assertThat(heard).containsExactly("all[a, b]", "+c", "-a");
    assertThat(source.askedNext).containsExactly("", "more");
    assertThat(source.watchedFrom).containsExactly("7");
  }

  @Test
  void resumesABrokenWatchFromTheLastVersionIncludingBookmarks() throws Exception {
    source.pages.add(page("", "7", "a"));
    watch.start();
    Watcher<ConfigMap> first = source.nextWatch();
    first.eventReceived(Action.ADDED, map("b", "8"));
    first.eventReceived(Action.BOOKMARK, map("", "30"));
    first.onClose(new WatcherException("connection lost"));
    source.nextWatch().eventReceived(Action.ADDED, map("c", "31"));
    assertThat(source.watchedFrom).containsExactly("7", "30");
    assertThat(heard).containsExactly("all[a]", "+b", "+c");
  }

  @Test
  void listsAgainWhenTheVersionIsForgotten() throws Exception {
    source.pages.add(page("", "7", "a"));
    source.pages.add(page("", "90", "z"));
    watch.start();
    Watcher<ConfigMap> first = source.nextWatch();
    first.onClose(new WatcherException("gone", new KubernetesClientException("gone", 410, null)));
    source.nextWatch();
    assertThat(source.watchedFrom).containsExactly("7", "90");
    assertThat(heard).containsExactly("all[a]", "all[z]");
  }

  @Test
  void goesOnAfterTheServerWasAway() throws Exception {
    source.pages.add(new KubernetesClientException("refused"));
    source.pages.add(page("x", "1", "lost"));
    source.pages.add(new KubernetesClientException("page expired", 410, null));
    source.pages.add(page("", "7", "a"));
    watch.start();
    source.nextWatch();
    assertThat(heard).containsExactly("all[a]");
  }

  @Test
  void anObjectThatCannotBeReadIsLeftOutAndTheOthersAreHeard() throws Exception {
    source.pages.add(page("", "7", "a", "broken", "b"));
    watch.start();
    Watcher<ConfigMap> w = source.nextWatch();
    w.eventReceived(Action.ADDED, map("broken", "8"));
    w.eventReceived(Action.ADDED, map("c", "9"));
    assertThat(heard).containsExactly("all[a, b]", "+c");
  }

  @Test
  void aListenerThatFailsIsToldEverythingAgain() throws Exception {
    source.pages.add(page("", "7", "a"));
    source.pages.add(page("", "9", "a", "poison-taken"));
    watch.start();
    source.nextWatch().eventReceived(Action.ADDED, map("poison", "8"));
    source.nextWatch();
    assertThat(source.watchedFrom).containsExactly("7", "9");
    assertThat(heard).containsExactly("all[a]", "all[a, poison-taken]");
  }

  @Test
  void aClosedWatchTellsNothing() throws Exception {
    source.pages.add(page("", "7", "a"));
    watch.start();
    Watcher<ConfigMap> w = source.nextWatch();
    watch.close();
    w.eventReceived(Action.ADDED, map("late", "8"));
    assertThat(heard).containsExactly("all[a]");
  }

  @Test
  void aWatchThatSaysNothingIsBegunAgainAndABookmarkIsASign() throws Exception {
    source.pages.add(page("", "7", "a"));
    try (SlimWatch<ConfigMap, String> impatient =
        new SlimWatch<>("test", source, m -> name(m), NOBODY, Duration.ofMillis(300))) {
      impatient.start();
      Watcher<ConfigMap> first = source.nextWatch();
      first.eventReceived(Action.BOOKMARK, map("", "9"));
      source.nextWatch();
      assertThat(source.watchedFrom).containsExactly("7", "9");
      assertThat(source.askedNext).as("lists").hasSize(1);
    }
  }

  private static final SlimWatch.Listener<String> NOBODY =
      new SlimWatch.Listener<>() {
        @Override
        public void replaced(List<String> all) {}

        @Override
        public void changed(String record) {}

        @Override
        public void gone(String record) {}
      };
}
