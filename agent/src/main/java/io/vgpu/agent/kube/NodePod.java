package io.vgpu.agent.kube;

import io.vgpu.claim.Names;
import io.vgpu.model.PodDemand;
import io.vgpu.model.PodRef;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;

/**
 * What the agent keeps of a pod: enough to say who it is, what it asks for and what it was given.
 *
 * @param annotations only those of ours
 * @param labels only those of ours
 * @param deleting has a deletion timestamp
 * @param containerIds the runtime's ids in the status, without its name, by init or app container
 * @param running of those, the ones that run now
 * @param stranded not begun in full, nothing of it runs, its sandbox is gone, and it is never
 *     restarted: a kubelet gives such a pod no other sandbox, so that it stays Pending for ever
 */
public record NodePod(
    PodRef ref,
    String nodeName,
    Map<String, String> annotations,
    Map<String, String> labels,
    PodDemand demand,
    String phase,
    boolean deleting,
    Map<String, String> containerIds,
    Set<String> running,
    boolean stranded) {
  public NodePod {
    annotations = Map.copyOf(annotations);
    labels = Map.copyOf(labels);
    containerIds = Map.copyOf(containerIds);
    running = Set.copyOf(running);
  }

  /** Phase Succeeded or Failed: no container of it will ever run again. */
  public boolean terminal() {
    return phase.equals("Succeeded") || phase.equals("Failed");
  }

  /** Init and app containers that have an id. */
  public Set<String> started() {
    return containerIds.keySet();
  }

  /** Whether any container of it has ever been created: it was admitted before. */
  public boolean hasStarted() {
    return !containerIds.isEmpty();
  }

  /** The container with this id of the runtime's. */
  public Optional<String> containerOf(String id) {
    return containerIds.entrySet().stream()
        .filter(e -> e.getValue().equals(id))
        .map(Map.Entry::getKey)
        .findFirst();
  }

  /** An annotation of ours, empty when absent. */
  public String annotation(String key) {
    return Objects.requireNonNullElse(annotations.get(key), "");
  }

  /**
   * The same pod seen from two sources, one of which may lag: started, terminal and deleting are
   * never taken back, so what either says holds. {@code other} tells better what runs now, {@code
   * this} wins for the rest.
   */
  public NodePod mergedWith(NodePod other) {
    if (!other.ref.equals(ref)) {
      return this;
    }
    Map<String, String> both = new HashMap<>(containerIds);
    both.putAll(other.containerIds);
    return new NodePod(
        ref,
        nodeName,
        annotations,
        labels,
        demand,
        terminal() || !other.terminal() ? phase : other.phase,
        deleting || other.deleting,
        both,
        other.running,
        stranded && other.stranded);
  }

  /** Whether a key is one that the agent reads. */
  static boolean isRead(String key, Names names) {
    return names.outputAnnotations().contains(key)
        || names.outputLabels().contains(key)
        || key.equals(names.computePolicy())
        || key.equals(names.latency());
  }
}
