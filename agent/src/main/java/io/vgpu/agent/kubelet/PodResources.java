package io.vgpu.agent.kubelet;

import io.grpc.ManagedChannel;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;
import k8s.podresources.v1.ContainerDevices;
import k8s.podresources.v1.ContainerResources;
import k8s.podresources.v1.ListPodResourcesRequest;
import k8s.podresources.v1.ListPodResourcesResponse;
import k8s.podresources.v1.PodResourcesListerGrpc;

/**
 * Asks the kubelet which containers hold which devices (pod-resources v1 {@code List},
 * identity-facts.md 2). Blocks, so it belongs on virtual threads. The kubelet allows 100 calls a
 * second to all its clients together; a refusal for that is tried again after 10 ms.
 */
public final class PodResources implements AutoCloseable {
  private static final Duration RATE_PAUSE = Duration.ofMillis(10);

  private final ManagedChannel channel;
  private final String resource;
  private final LongSupplier nanoTime;

  /** {@code resource}: whose device ids are looked at. */
  public PodResources(
      KubeletTransport transport, Path socket, String resource, LongSupplier nanoTime) {
    this.channel = transport.channel(socket);
    this.resource = resource;
    this.nanoTime = nanoTime;
  }

  /**
   * The kubelet's active pods. Throws {@link StatusRuntimeException} when it does not answer within
   * {@code deadline}.
   */
  public List<ListedPod> list(Duration deadline) {
    long end = nanoTime.getAsLong() + deadline.toNanos();
    // a channel that lost its kubelet would wait a second and more before it connects again
    channel.resetConnectBackoff();
    while (true) {
      long left = Math.max(1, end - nanoTime.getAsLong());
      try {
        return read(
            PodResourcesListerGrpc.newBlockingStub(channel)
                .withWaitForReady()
                .withDeadlineAfter(left, TimeUnit.NANOSECONDS)
                .list(ListPodResourcesRequest.getDefaultInstance()),
            resource);
      } catch (StatusRuntimeException e) {
        boolean limited = e.getStatus().getCode() == Status.Code.RESOURCE_EXHAUSTED;
        if (!limited || end - nanoTime.getAsLong() <= RATE_PAUSE.toNanos()) {
          throw e;
        }
        LockSupport.parkNanos(RATE_PAUSE.toNanos());
      }
    }
  }

  /**
   * All entries of a container together: without NUMA topology each device is an entry of its own.
   */
  static List<ListedPod> read(ListPodResourcesResponse response, String resource) {
    List<ListedPod> pods = new ArrayList<>();
    for (k8s.podresources.v1.PodResources pod : response.getPodResourcesList()) {
      Map<String, Set<String>> containers = new LinkedHashMap<>();
      for (ContainerResources c : pod.getContainersList()) {
        Set<String> ids = containers.computeIfAbsent(c.getName(), n -> new LinkedHashSet<>());
        for (ContainerDevices d : c.getDevicesList()) {
          if (d.getResourceName().equals(resource)) {
            ids.addAll(d.getDeviceIdsList());
          }
        }
      }
      pods.add(new ListedPod(pod.getNamespace(), pod.getName(), containers));
    }
    return pods;
  }

  @Override
  public void close() {
    channel.shutdownNow();
  }
}
