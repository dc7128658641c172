package io.vgpu.kube;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.Watch;
import io.fabric8.kubernetes.client.Watcher;
import io.fabric8.kubernetes.client.WatcherException;
import java.net.HttpURLConnection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Lists and then watches one kind of object and hands on slim records only: an object is mapped the
 * moment it is read and never kept, because whole objects cost a hundred times the memory
 * (vertx-facts.md 2).
 *
 * <p>Lists in pages, resumes a broken watch from the last version seen, lists again when the API
 * server has forgotten it (410), and pauses between failures. The listener is called by one thread
 * at a time, never concurrently, in order.
 */
public final class SlimWatch<T extends HasMetadata, S> implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(SlimWatch.class);
  private static final Duration FIRST_PAUSE = Duration.ofMillis(100);
  private static final Duration LONGEST_PAUSE = Duration.ofSeconds(5);

  /** The API server sends a bookmark each minute, if nothing else. */
  private static final Duration DEAF_AFTER = Duration.ofSeconds(90);

  /** What is heard of. */
  public interface Listener<S> {
    /** Everything there is, replacing all that was told before; what is missing is gone. */
    void replaced(List<S> all);

    /** One object was added or changed. */
    void changed(S record);

    /** One object is gone; the record is its last state. */
    void gone(S record);
  }

  private final String name;
  private final SlimSource<T> source;
  private final Function<T, Optional<S>> slim;
  private final Listener<S> listener;
  private final Duration deafAfter;
  private final AtomicReference<@Nullable Watch> current = new AtomicReference<>();
  private volatile boolean closed;
  private volatile boolean synced;
  private volatile @Nullable Thread thread;

  /**
   * @param name for the log
   * @param slim maps an object, or is empty for one that does not matter (and cannot come to
   *     matter: an object whose record becomes empty later is reported as gone only by a new list)
   */
  public SlimWatch(
      String name, SlimSource<T> source, Function<T, Optional<S>> slim, Listener<S> listener) {
    this(name, source, slim, listener, DEAF_AFTER);
  }

  /** {@code deafAfter}: a watch that says nothing for so long is begun again. */
  SlimWatch(
      String name,
      SlimSource<T> source,
      Function<T, Optional<S>> slim,
      Listener<S> listener,
      Duration deafAfter) {
    this.deafAfter = deafAfter;
    this.name = name;
    this.source = source;
    this.slim = slim;
    this.listener = listener;
  }

  /** Begins on a virtual thread of its own. */
  public void start() {
    thread = Thread.ofVirtual().name("watch-" + name).start(this::loop);
  }

  /** Whether the first list is in; stays true through later breaks. */
  public boolean synced() {
    return synced;
  }

  /** Ends the watch; no call reaches the listener after the thread has ended. */
  @Override
  public void close() {
    closed = true;
    Watch watch = current.get();
    if (watch != null) {
      watch.close();
    }
    Thread running = thread;
    if (running != null) {
      LockSupport.unpark(running);
    }
  }

  private void loop() {
    Duration pause = FIRST_PAUSE;
    @Nullable String version = null;
    while (!closed) {
      try {
        if (version == null) {
          version = list();
        }
        Run run = watch(version);
        version = run.gone ? null : run.version;
        pause = run.heard ? FIRST_PAUSE : longer(pause);
      } catch (KubernetesClientException e) {
        if (e.getCode() == HttpURLConnection.HTTP_GONE) {
          version = null;
        }
        log.warn(
            "watch interrupted [kind: {}, cause: {}, next try: {} ms]",
            name,
            e.getMessage(),
            pause.toMillis());
        pause = longer(pause);
      } catch (RuntimeException e) {
        // the listener's fault, not the API's: what it knows is in doubt, so it is told everything
        // again
        version = null;
        log.error("listing again after a fault [kind: {}, in: {} ms]", name, pause.toMillis(), e);
        pause = longer(pause);
      }
      if (!closed) {
        LockSupport.parkNanos(pause.toNanos());
      }
    }
  }

  private static Duration longer(Duration pause) {
    Duration doubled = pause.multipliedBy(2);
    return doubled.compareTo(LONGEST_PAUSE) > 0 ? LONGEST_PAUSE : doubled;
  }

  private String list() {
    List<S> records = new ArrayList<>();
    String next = "";
    String version = "";
    do {
      SlimSource.Page<T> page = source.page(next);
      page.items().forEach(item -> read(item).ifPresent(records::add));
      next = page.next();
      version = page.resourceVersion();
    } while (!next.isEmpty() && !closed);
    if (!closed) {
      listener.replaced(List.copyOf(records));
      synced = true;
    }
    return version;
  }

  /**
   * An object that cannot be read is left out and told of: it must not make us deaf for all the
   * others.
   */
  private Optional<S> read(T object) {
    try {
      return slim.apply(object);
    } catch (RuntimeException e) {
      log.error("an object was left out [kind: {}, object: {}]", name, object.getMetadata(), e);
      return Optional.empty();
    }
  }

  /** One watch from {@code version} until it ends. */
  private Run watch(String version) {
    Run run = new Run(version);
    try (Watch watch = source.watch(version, run)) {
      current.set(watch);
      boolean ended = closed;
      while (!ended) {
        run.sign = false;
        ended = run.ended.await(deafAfter.toMillis(), TimeUnit.MILLISECONDS);
        if (!ended && !run.sign) {
          // the connection is dead and nobody told us
          log.warn("watch ended for want of any sign [kind: {}]", name);
          ended = true;
        }
      }
    } catch (InterruptedException e) {
      closed = true;
      Thread.currentThread().interrupt();
    } finally {
      current.set(null);
      run.over = true;
    }
    return run;
  }

  /** Receives the events of one watch; fabric8 calls it from one thread at a time. */
  private final class Run implements Watcher<T> {
    final CountDownLatch ended = new CountDownLatch(1);
    volatile String version;
    volatile boolean gone;
    volatile boolean heard;
    volatile boolean sign;
    volatile boolean over;

    Run(String version) {
      this.version = version;
    }

    @Override
    public void eventReceived(Action action, T object) {
      if (closed || over) {
        return;
      }
      heard = true;
      sign = true;
      try {
        switch (action) {
          case ADDED, MODIFIED -> read(object).ifPresent(listener::changed);
          case DELETED -> read(object).ifPresent(listener::gone);
          case BOOKMARK -> {}
          case ERROR -> end();
        }
      } catch (RuntimeException e) {
        log.error("listing again after a fault [kind: {}]", name, e);
        end();
        return;
      }
      if (object.getMetadata() != null && object.getMetadata().getResourceVersion() != null) {
        version = object.getMetadata().getResourceVersion();
      }
    }

    /** Ends this watch with a new list. */
    private void end() {
      gone = true;
      ended.countDown();
    }

    @Override
    public void onClose(WatcherException cause) {
      gone |= cause.isHttpGone();
      ended.countDown();
    }

    @Override
    public void onClose() {
      ended.countDown();
    }
  }
}
