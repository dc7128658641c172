package io.vgpu.e2e.product;

import io.vgpu.agent.kubelet.KubeletTransport;
import io.vgpu.agent.kubelet.ListedPod;
import io.vgpu.agent.kubelet.PodResources;
import io.vgpu.claim.Names;
import io.vgpu.e2e.cluster.Cluster;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Which devices the kubelet itself says that containers hold: the second witness beside the
 * containers.
 */
public final class PodResourcesView {
  private static final Duration LIMIT = Duration.ofSeconds(10);
  private final Cluster cluster;

  public PodResourcesView(Cluster cluster) {
    this.cluster = cluster;
  }

  /** Device ids per container of a pod, sorted; finished init containers are not listed. */
  public Map<String, List<String>> devices(String namespace, String pod) {
    Map<String, List<String>> found = new HashMap<>();
    for (ListedPod listed : list()) {
      if (listed.namespace().equals(namespace) && listed.name().equals(pod)) {
        listed
            .devices()
            .forEach((container, ids) -> found.put(container, ids.stream().sorted().toList()));
      }
    }
    return found;
  }

  /** Every active pod of the node. */
  public List<ListedPod> list() {
    try (KubeletTransport transport = new KubeletTransport();
        PodResources resources =
            new PodResources(
                transport,
                cluster.paths().podResourcesSocket(),
                Names.DEFAULT.vgpuNumber(),
                System::nanoTime)) {
      return new ArrayList<>(resources.list(LIMIT));
    }
  }
}
