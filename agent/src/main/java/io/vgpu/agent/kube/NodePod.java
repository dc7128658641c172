package io.vgpu.agent.kube;

import io.vgpu.claim.Names;
import io.vgpu.model.PodDemand;
import io.vgpu.model.PodRef;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

/**
 * What the agent keeps of a pod: enough to say who it is, what it asks for and what it was given.
 *
 * @param annotations only those of ours
 * @param labels only those of ours
 * @param deleting has a deletion timestamp
 * @param started init and app containers that have a container id in the status
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
    Set<String> started,
    Set<String> running,
    boolean stranded) {
  public NodePod {
    annotations = Map.copyOf(annotations);
    labels = Map.copyOf(labels);
    started = Set.copyOf(started);
    running = Set.copyOf(running);
  }

  /** Phase Succeeded or Failed: no container of it will ever run again. */
  public boolean terminal() {
    return phase.equals("Succeeded") || phase.equals("Failed");
  }

  /** Whether any container of it has ever been created: it was admitted before. */
  public boolean hasStarted() {
    return !started.isEmpty();
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
    Set<String> both = new LinkedHashSet<>(started);
    both.addAll(other.started);
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
        || key.equals(names.computePolicy());
  }
}
