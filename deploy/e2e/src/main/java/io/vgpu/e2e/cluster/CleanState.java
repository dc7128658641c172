package io.vgpu.e2e.cluster;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/**
 * Brings a used cluster back to what it was after its start: parts alive, no processes of ours, no
 * namespaces, pods, webhooks and policies but Kubernetes' own, the node without foreign labels,
 * annotations, taints. Bounded; cluster roles stay.
 *
 * <p>An extended resource stays in the node's capacity (with 0 allocatable): the kubelet forgets a
 * plugin minutes later.
 */
final class CleanState {
  private static final Duration LIMIT = Duration.ofSeconds(60);
  private static final Set<String> SYSTEM_NAMESPACES =
      Set.of("default", "kube-system", "kube-public", "kube-node-lease");

  private final Cluster cluster;
  private final KubernetesClient client;

  CleanState(Cluster cluster) {
    this.cluster = cluster;
    this.client = cluster.client();
  }

  void restore() {
    cluster.reviveParts();
    // before our processes end: with a webhook gone and failurePolicy Fail, nothing could be
    // deleted
    client.admissionRegistration().v1().mutatingWebhookConfigurations().delete();
    client.admissionRegistration().v1().validatingWebhookConfigurations().delete();
    client.admissionRegistration().v1().validatingAdmissionPolicyBindings().delete();
    client.admissionRegistration().v1().validatingAdmissionPolicies().delete();
    cluster.stopProcesses();
    deleteWorkloads();
    cleanNode();
    cluster.awaitNodeReady();
  }

  private void deleteWorkloads() {
    foreignNamespaces().forEach(name -> client.namespaces().withName(name).delete());
    client.batch().v1().jobs().inNamespace("default").delete();
    client.apps().deployments().inNamespace("default").delete();
    client.apps().daemonSets().inNamespace("default").delete();
    client.apps().replicaSets().inNamespace("default").delete();
    Await.until("all pods to go", LIMIT, this::noPodsLeft);
    Await.until("test namespaces to go", LIMIT, () -> foreignNamespaces().isEmpty());
  }

  /**
   * Deletes what is there with a second's grace; a controller may have made another one since the
   * last look.
   */
  private boolean noPodsLeft() {
    List<Pod> pods = client.pods().inAnyNamespace().list().getItems();
    for (Pod pod : pods) {
      if (pod.getMetadata().getDeletionTimestamp() == null) {
        client.resource(pod).withGracePeriod(1).delete();
      }
    }
    return pods.isEmpty();
  }

  private List<String> foreignNamespaces() {
    return client.namespaces().list().getItems().stream()
        .map(HasMetadata::getMetadata)
        .map(m -> m.getName())
        .filter(name -> !SYSTEM_NAMESPACES.contains(name))
        .toList();
  }

  private void cleanNode() {
    Predicate<String> keep =
        key -> isKubernetesOwn(key) || cluster.config().nodeLabels().containsKey(key);
    Node before = cluster.node();
    boolean dirty =
        !before.getMetadata().getLabels().keySet().stream().allMatch(keep)
            || !before.getMetadata().getAnnotations().keySet().stream().allMatch(keep)
            || Boolean.TRUE.equals(before.getSpec().getUnschedulable())
            || !before.getSpec().getTaints().stream().allMatch(t -> isKubernetesOwn(t.getKey()));
    if (dirty) {
      client.nodes().withName(cluster.config().nodeName()).edit(node -> cleaned(node, keep));
    }
  }

  static Node cleaned(Node node, Predicate<String> keep) {
    return new NodeBuilder(node)
        .editMetadata()
        .withLabels(only(node.getMetadata().getLabels(), keep))
        .withAnnotations(only(node.getMetadata().getAnnotations(), keep))
        .endMetadata()
        .editSpec()
        .withUnschedulable(null)
        .withTaints(
            node.getSpec().getTaints().stream().filter(t -> isKubernetesOwn(t.getKey())).toList())
        .endSpec()
        .build();
  }

  private static Map<String, String> only(Map<String, String> all, Predicate<String> keep) {
    return all.entrySet().stream()
        .filter(e -> keep.test(e.getKey()))
        .collect(Collectors.toMap(Map.Entry::getKey, Map.Entry::getValue));
  }

  /** Keys below kubernetes.io are the kubelet's and the controllers'. */
  static boolean isKubernetesOwn(String key) {
    int slash = key.indexOf('/');
    String domain = slash < 0 ? "" : key.substring(0, slash);
    return domain.equals("kubernetes.io") || domain.endsWith(".kubernetes.io");
  }
}
