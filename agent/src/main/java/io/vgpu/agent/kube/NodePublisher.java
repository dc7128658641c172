package io.vgpu.agent.kube;

import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.vertx.core.Future;
import io.vertx.core.VerticleBase;
import io.vgpu.agent.gpu.DriverInfo;
import io.vgpu.agent.gpu.GpuInventory;
import io.vgpu.claim.Names;
import io.vgpu.event.EventTypes;
import io.vgpu.event.wire.EventBusPort;
import io.vgpu.kube.MergePatch;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps this node's labels and annotations what its cards are (node-agent.md 1.2, 2.6): reads the
 * node once and whenever {@link #readAgain told}, patches only when something changed, repeats a
 * failure with growing pauses for as long as it lasts. Runs on a virtual thread, because the client
 * blocks. Nothing is removed at the end: a restart must not make the node unschedulable.
 */
public final class NodePublisher extends VerticleBase {
  private static final Logger log = LoggerFactory.getLogger(NodePublisher.class);
  private static final Duration FIRST_PAUSE = Duration.ofMillis(500);
  private static final Duration LONGEST_PAUSE = Duration.ofSeconds(30);

  /** Is told of every patch that was tried. */
  @FunctionalInterface
  public interface Counter {
    void patched(boolean ok);
  }

  private final KubernetesClient client;
  private final String node;
  private final Names names;
  private final DriverInfo driver;
  private final GpuInventory inventory;
  private final EventBusPort bus;
  private final Counter counter;
  private @Nullable NodeMetadata present;
  private Duration pause = FIRST_PAUSE;
  private boolean waiting;
  private final AtomicBoolean asked = new AtomicBoolean();
  private volatile boolean published;

  /** Deploy on a virtual thread. */
  public NodePublisher(
      KubernetesClient client,
      String node,
      Names names,
      DriverInfo driver,
      GpuInventory inventory,
      EventBusPort bus,
      Counter counter) {
    this.client = client;
    this.node = node;
    this.names = names;
    this.driver = driver;
    this.inventory = inventory;
    this.bus = bus;
    this.counter = counter;
  }

  @Override
  public Future<?> start() {
    bus.on(EventTypes.GPU_INVENTORY_CHANGED, e -> publish());
    context.runOnContext(v -> publish()); // an API server that is away must not fail the start
    return Future.succeededFuture();
  }

  /** Whether the node carries what the cards were at some time since the start. Any thread. */
  public boolean published() {
    return published;
  }

  /**
   * The node may have been made anew or edited: reads it once more and writes what differs. Any
   * thread, after the deployment; calls that come before the look are one.
   */
  public void readAgain() {
    if (asked.compareAndSet(false, true)) {
      context.runOnContext(
          v -> {
            asked.set(false);
            present = null;
            publish();
          });
    }
  }

  private void publish() {
    if (waiting) {
      return; // the pending try reads the inventory anew
    }
    NodeMetadata wanted = NodeMetadata.wanted(names, driver, inventory.published());
    try {
      NodeMetadata known = present == null ? read(wanted) : present;
      present = known;
      Optional<String> patch = wanted.patchFrom(known);
      if (patch.isPresent()) {
        MergePatch.send(client, "/api/v1/nodes/" + node, patch.get());
        present = wanted;
        published = true;
        counter.patched(true);
        log.info("node published [node: {}, cards: {}]", node, inventory.cards().size());
      }
      published = true;
      pause = FIRST_PAUSE;
    } catch (KubernetesClientException e) {
      counter.patched(false);
      later(e);
    }
  }

  private NodeMetadata read(NodeMetadata wanted) {
    Node found = client.nodes().withName(node).get();
    if (found == null) {
      throw new KubernetesClientException("node " + node + " does not exist (yet)");
    }
    Map<String, String> annotations = found.getMetadata().getAnnotations();
    return wanted.narrowed(annotations, found.getMetadata().getLabels());
  }

  private void later(KubernetesClientException e) {
    log.warn(
        "node not published, trying again [node: {}, in: {} ms, cause: {}]",
        node,
        pause.toMillis(),
        e.getCause() == null ? e.getMessage() : e.getCause().toString());
    waiting = true;
    vertx.setTimer(
        pause.toMillis(),
        t -> {
          waiting = false;
          publish();
        });
    pause = pause.compareTo(LONGEST_PAUSE) < 0 ? pause.multipliedBy(2) : LONGEST_PAUSE;
  }
}
