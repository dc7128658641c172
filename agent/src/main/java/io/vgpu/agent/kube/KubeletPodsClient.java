package io.vgpu.agent.kube;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.vgpu.claim.FormatException;
import io.vgpu.claim.Names;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * {@link KubeletPods} over the kubelet's port, with the agent's own token (RBAC {@code nodes/pods:
 * get}). Logs when the port begins or ceases to answer, not at each try.
 */
public final class KubeletPodsClient implements KubeletPods, AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(KubeletPodsClient.class);
  public static final int MAX_LENGTH = 64 << 20;

  private final KubernetesClient kubelet;
  private final NodePodReader reader;
  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
  private final AtomicBoolean answering = new AtomicBoolean(true);

  /** {@code kubelet}: a client whose master is the kubelet's port; closed with this. */
  public KubeletPodsClient(KubernetesClient kubelet, Names names) {
    this.kubelet = kubelet;
    this.reader = new NodePodReader(names);
  }

  @Override
  public Optional<List<NodePod>> get(Duration deadline) {
    Future<List<NodePod>> answer = threads.submit(this::read);
    try {
      List<NodePod> pods = answer.get(deadline.toMillis(), TimeUnit.MILLISECONDS);
      if (!answering.getAndSet(true)) {
        log.info("the kubelet's port answers again [url: {}]", kubelet.getMasterUrl());
      }
      return Optional.of(pods);
    } catch (ExecutionException e) {
      failed(e.getCause() == null ? e.toString() : e.getCause().toString());
    } catch (TimeoutException e) {
      answer.cancel(true);
      failed("no answer within " + deadline.toMillis() + " ms");
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    return Optional.empty();
  }

  private List<NodePod> read() {
    String text = kubelet.raw("/pods");
    if (text == null) {
      throw new KubernetesClientException("the kubelet has no /pods");
    }
    if (text.length() > MAX_LENGTH) {
      throw new FormatException(
          "pod list of " + text.length() + " characters: at most " + MAX_LENGTH);
    }
    return reader.podList(text);
  }

  private void failed(String cause) {
    if (answering.getAndSet(false)) {
      log.warn(
          "the kubelet's port does not answer; pods are told apart by the API's view until it does"
              + " [url: {}, cause: {}]",
          kubelet.getMasterUrl(),
          cause);
    }
  }

  @Override
  public void close() {
    threads.shutdownNow();
    kubelet.close();
  }
}
