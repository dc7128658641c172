package io.vgpu.agent.kube;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.vgpu.claim.Names;
import io.vgpu.kube.SlimSource;
import io.vgpu.kube.SlimWatch;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * {@link NodePods} by a watch with the field selector {@code spec.nodeName}: an agent never sees
 * other nodes' pods (D14), and keeps slim records only.
 */
public final class WatchedNodePods implements NodePods, AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(WatchedNodePods.class);
  private static final int PAGE = 500;

  private final KubernetesClient client;
  private final String node;
  private final NodePodReader reader;
  private final PodMemory memory;
  private final SlimWatch<Pod, NodePod> watch;
  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
  private volatile Consumer<NodePod> onGone = pod -> {};

  /** Begins with {@link #start}. */
  public WatchedNodePods(KubernetesClient client, String node, Names names, LongSupplier nanoTime) {
    this.client = client;
    this.node = node;
    this.reader = new NodePodReader(names);
    this.memory = new PodMemory(nanoTime, pod -> onGone.accept(pod));
    this.watch =
        new SlimWatch<>(
            "pods-of-node",
            SlimSource.of(client.pods().inAnyNamespace().withField("spec.nodeName", node), PAGE),
            reader::of,
            memory);
  }

  /**
   * Begins to watch; {@code onGone} hears of each pod that ceased to exist, on the watch's thread.
   */
  public void start(Consumer<NodePod> onGone) {
    this.onGone = onGone;
    watch.start();
  }

  @Override
  public boolean synced() {
    return watch.synced();
  }

  @Override
  public List<NodePod> live() {
    return memory.live();
  }

  @Override
  public Optional<NodePod> live(String uid) {
    return memory.live(uid);
  }

  @Override
  public List<NodePod> named(String namespace, String name) {
    return memory.named(namespace, name);
  }

  @Override
  public Optional<NodePod> fetch(String namespace, String name, Duration deadline) {
    Future<Optional<NodePod>> answer = threads.submit(() -> get(namespace, name));
    try {
      return answer.get(deadline.toMillis(), TimeUnit.MILLISECONDS);
    } catch (ExecutionException | TimeoutException e) {
      answer.cancel(true);
      log.warn("pod could not be asked for [pod: {}/{}, cause: {}]", namespace, name, e.toString());
      return Optional.empty();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return Optional.empty();
    }
  }

  private Optional<NodePod> get(String namespace, String name) {
    try {
      Pod pod = client.pods().inNamespace(namespace).withName(name).get();
      return pod == null ? Optional.empty() : reader.of(pod).filter(p -> p.nodeName().equals(node));
    } catch (KubernetesClientException e) {
      log.warn("pod could not be read [pod: {}/{}, cause: {}]", namespace, name, e.getMessage());
      return Optional.empty();
    }
  }

  @Override
  public void close() {
    watch.close();
    threads.shutdownNow();
  }
}
