package io.vgpu.agent.deviceplugin;

import io.vgpu.agent.kube.NodePod;
import io.vgpu.agent.kubelet.ListedPod;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;

/**
 * One look at who is on the node: whom the kubelet lists with which devices, and who the pods are.
 *
 * @param pods every pod known, several may share a name
 * @param fromKubelet {@code pods} is the kubelet's own view, else the API's with its deleted ones
 * @param apiHas whether a UID exists by the API; true also while the API's list is not in yet
 */
record PodView(
    List<ListedPod> listed, List<NodePod> pods, boolean fromKubelet, Predicate<String> apiHas) {
  PodView {
    listed = List.copyOf(listed);
    pods = List.copyOf(pods);
  }

  List<NodePod> named(ListedPod l) {
    return pods.stream()
        .filter(p -> p.ref().namespace().equals(l.namespace()) && p.ref().name().equals(l.name()))
        .toList();
  }

  /** The list's line of a pod; empty when the kubelet does not list it. */
  Optional<ListedPod> line(NodePod pod) {
    return listed.stream()
        .filter(
            l -> l.namespace().equals(pod.ref().namespace()) && l.name().equals(pod.ref().name()))
        .findFirst();
  }

  /**
   * By this view the entry's pod can run no container any more, so that its ids are free. Absence
   * from the kubelet's view alone is not enough: after its restart it takes up its pods one by one.
   */
  boolean isOver(PodEntry entry) {
    String uid = entry.pod().uid();
    for (NodePod pod : pods) {
      if (pod.ref().uid().equals(uid)) {
        return pod.terminal();
      }
    }
    return fromKubelet && !apiHas.test(uid);
  }
}
