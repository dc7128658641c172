package io.vgpu.kube;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.vgpu.model.PodRef;
import java.time.Clock;
import java.time.Duration;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.UUID;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/**
 * Writes Kubernetes events about pods and nodes, off every path that decides something: a bucket of
 * their own (D20), so that they never take requests from bindings; what exceeds it is dropped and
 * counted. Any thread.
 */
public final class KubeEvents implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(KubeEvents.class);
  private static final JsonMapper JSON = JsonMapper.builder().build();
  private static final int MAX_MESSAGE = 1024; // the API server refuses longer notes
  private static final String NODE_EVENTS = "default"; // as the kubelet's: a node has no namespace
  private static final int MAX_IN_FLIGHT = 64;
  private static final Duration LAST_WORDS = Duration.ofSeconds(2);

  private final KubernetesClient client;
  private final String component;
  private final Clock clock;
  private final Semaphore inFlight = new Semaphore(MAX_IN_FLIGHT);
  private final TokenBucket bucket;
  private final Counter dropped;
  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();

  /** What an event tells of; a node's namespace is empty. */
  private record About(String kind, String namespace, String name, String uid) {
    void write(ObjectNode to) {
      to.put("apiVersion", "v1").put("kind", kind).put("name", name).put("uid", uid);
      if (!namespace.isEmpty()) {
        to.put("namespace", namespace);
      }
    }
  }

  /** Whether an event reports the expected or a fault. */
  public enum Type {
    NORMAL("Normal"),
    WARNING("Warning");

    private final String word;

    Type(String word) {
      this.word = word;
    }
  }

  /** {@code component}: the event's source, e.g. {@code vgpu-scheduler}. */
  public KubeEvents(
      KubernetesClient client,
      String component,
      TokenBucket bucket,
      Clock clock,
      MeterRegistry meters) {
    this.client = client;
    this.component = component;
    this.bucket = bucket;
    this.clock = clock;
    this.dropped =
        Counter.builder("vgpu.kube.events.dropped")
            .description("Kubernetes events not written for want of budget")
            .register(meters);
  }

  /** Tells of a pod; returns at once. A failed write is logged, never thrown. */
  public void pod(PodRef pod, Type type, String reason, String message) {
    tell(
        new About("Pod", pod.namespace(), pod.name(), pod.uid()),
        pod.namespace(),
        type,
        reason,
        message);
  }

  /**
   * Tells of a node; returns at once. Its UID is its name, as in the kubelet's own events: {@code
   * kubectl describe node} looks for both.
   */
  public void node(String node, Type type, String reason, String message) {
    tell(new About("Node", "", node, node), NODE_EVENTS, type, reason, message);
  }

  private void tell(About about, String namespace, Type type, String reason, String message) {
    if (!bucket.tryTake() || !inFlight.tryAcquire()) {
      dropped.increment();
      return;
    }
    try {
      threads.execute(() -> written(about, namespace, type, reason, message));
    } catch (RejectedExecutionException closed) {
      // somebody tells while the process ends: too late to be written
      dropped.increment();
      inFlight.release();
    }
  }

  private void written(About about, String namespace, Type type, String reason, String message) {
    try {
      write(about, namespace, type, reason, message);
    } catch (KubernetesClientException | IllegalStateException e) {
      // illegal state: the client was closed meanwhile
      log.warn(
          "event not written [about: {} {}/{}, reason: {}, cause: {}]",
          about.kind(),
          namespace,
          about.name(),
          reason,
          e.getMessage());
    } finally {
      inFlight.release();
    }
  }

  private void write(About about, String namespace, Type type, String reason, String message) {
    String time =
        DateTimeFormatter.ofPattern("yyyy-MM-dd'T'HH:mm:ss'Z'")
            .withZone(ZoneOffset.UTC)
            .format(clock.instant());
    ObjectNode event = JSON.createObjectNode();
    event.put("apiVersion", "v1").put("kind", "Event");
    event.putObject("metadata").put("name", eventName(about.name())).put("namespace", namespace);
    about.write(event.putObject("involvedObject"));
    event
        .put("type", type.word)
        .put("reason", reason)
        .put(
            "message",
            message.length() <= MAX_MESSAGE ? message : message.substring(0, MAX_MESSAGE - 1) + "…")
        .put("reportingComponent", component)
        .put("firstTimestamp", time)
        .put("lastTimestamp", time)
        .put("count", 1)
        .putObject("source")
        .put("component", component);
    // as text, there and back: objects of the client's model cost more than the request itself
    client.raw("/api/v1/namespaces/" + namespace + "/events", "POST", event.toString());
  }

  private static String eventName(String of) {
    String suffix = "." + UUID.randomUUID().toString().substring(0, 13);
    int room = 253 - suffix.length();
    return (of.length() <= room ? of : of.substring(0, room)) + suffix;
  }

  /**
   * Lets the writes under way end, within {@code LAST_WORDS}; call it before the client is closed.
   */
  @Override
  public void close() {
    threads.shutdown();
    try {
      if (!threads.awaitTermination(LAST_WORDS.toMillis(), TimeUnit.MILLISECONDS)) {
        threads.shutdownNow();
      }
    } catch (InterruptedException e) {
      threads.shutdownNow();
      Thread.currentThread().interrupt();
    }
  }
}
