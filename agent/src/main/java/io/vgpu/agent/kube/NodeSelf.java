package io.vgpu.agent.kube;

import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeAddress;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.vgpu.claim.Names;
import java.util.Optional;

/**
 * What the agent reads of its own node object, once: where its kubelet listens, and the compute
 * policy that its operator chose. Both are frozen for the life of the process.
 */
public record NodeSelf(String address, String computePolicy) {
  /** Blocks; empty when there is no such node. */
  public static Optional<NodeSelf> read(KubernetesClient client, String name, Names names) {
    Node node = client.nodes().withName(name).get();
    if (node == null) {
      return Optional.empty();
    }
    String address =
        node.getStatus() == null
            ? ""
            : node.getStatus().getAddresses().stream()
                .filter(a -> "InternalIP".equals(a.getType()))
                .map(NodeAddress::getAddress)
                .findFirst()
                .orElse("");
    String policy =
        node.getMetadata().getAnnotations() == null
            ? ""
            : node.getMetadata().getAnnotations().getOrDefault(names.computePolicy(), "");
    return Optional.of(new NodeSelf(address, policy));
  }

  /** The address as part of a URL: IPv6 in brackets. */
  public String urlHost() {
    return address.contains(":") ? "[" + address + "]" : address;
  }
}
