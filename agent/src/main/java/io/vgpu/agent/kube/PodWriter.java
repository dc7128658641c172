package io.vgpu.agent.kube;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.vgpu.kube.MergePatch;
import io.vgpu.kube.PatchRetry;
import io.vgpu.kube.TokenBucket;
import io.vgpu.model.PodRef;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/**
 * Writes annotations and labels of pods, off every answer's path: one merge patch under the pod's
 * UID, repeated with growing pauses until it is in or the pod is gone. Any thread; returns at once.
 */
public final class PodWriter implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(PodWriter.class);
  private static final JsonMapper JSON = JsonMapper.builder().build();
  private static final int MAX_PENDING = 1024;
  private static final Duration LOOK = Duration.ofMillis(20);
  private static final Duration LONGEST_PAUSE = Duration.ofSeconds(30);

  /** Values to set; null removes the key. */
  public record Change(
      Map<String, @Nullable String> annotations, Map<String, @Nullable String> labels) {}

  private final KubernetesClient client;
  private final Predicate<PodRef> exists;
  private final TokenBucket rate;
  private final PatchRetry retry = new PatchRetry(5, Duration.ofMillis(10));
  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
  private final Set<String> pending = ConcurrentHashMap.newKeySet();
  private volatile boolean closed;

  /**
   * {@code exists}: whether the pod is still known; asked before each further round of tries. Each
   * round waits for a token of {@code rate}.
   */
  public PodWriter(KubernetesClient client, Predicate<PodRef> exists, TokenBucket rate) {
    this.client = client;
    this.exists = exists;
    this.rate = rate;
  }

  /**
   * Hands the change over; false when one of this pod is under way already, or too many are: the
   * caller's next look at what is will hand it over again.
   */
  public boolean submit(PodRef pod, Change change) {
    if (closed || pending.size() >= MAX_PENDING || !pending.add(pod.uid())) {
      return false;
    }
    String body = body(pod, change);
    try {
      threads.execute(
          () -> {
            try {
              write(pod, body);
            } finally {
              pending.remove(pod.uid());
            }
          });
    } catch (RejectedExecutionException e) {
      return false; // closed meanwhile: the next start looks at what is
    }
    return true;
  }

  private void write(PodRef pod, String body) {
    Duration pause = Duration.ofMillis(500);
    while (mayGoOn()) {
      try {
        retry.run(
            () -> {
              MergePatch.send(
                  client, "/api/v1/namespaces/" + pod.namespace() + "/pods/" + pod.name(), body);
              return true;
            });
        return;
      } catch (KubernetesClientException e) {
        boolean another = e.getCode() == 409 && String.valueOf(e.getMessage()).contains("UID");
        if (e.getCode() == 404 || another) {
          return; // the pod is gone, there is nobody to tell
        }
        if (!exists.test(pod)) {
          log.info("pod not marked, it is gone [pod: {}, cause: {}]", pod, e.getMessage());
          return;
        }
        log.warn(
            "pod not marked, trying again [pod: {}, in: {} ms, cause: {}]",
            pod,
            pause.toMillis(),
            e.getMessage());
        LockSupport.parkNanos(pause.toNanos());
        pause = pause.compareTo(LONGEST_PAUSE) < 0 ? pause.multipliedBy(2) : LONGEST_PAUSE;
      }
    }
  }

  /** Waits for a token; false when this was closed. */
  private boolean mayGoOn() {
    while (!closed) {
      if (rate.tryTake()) {
        return true;
      }
      LockSupport.parkNanos(LOOK.toNanos());
    }
    return false;
  }

  static String body(PodRef pod, Change change) {
    ObjectNode root = JSON.createObjectNode();
    ObjectNode meta = root.putObject("metadata");
    meta.put("uid", pod.uid());
    put(meta, "annotations", change.annotations());
    put(meta, "labels", change.labels());
    return root.toString();
  }

  private static void put(ObjectNode meta, String field, Map<String, @Nullable String> values) {
    if (!values.isEmpty()) {
      ObjectNode object = meta.putObject(field);
      new TreeMap<>(values).forEach(object::put);
    }
  }

  @Override
  public void close() {
    closed = true;
    threads.shutdownNow();
  }
}
