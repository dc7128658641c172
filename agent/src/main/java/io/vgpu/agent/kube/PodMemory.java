package io.vgpu.agent.kube;

import io.vgpu.kube.SlimWatch;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

/**
 * The pods that exist, and those deleted in the last ten minutes: of a deleted pod the API knows
 * nothing more, but the kubelet may still be admitting it. Any thread.
 */
public final class PodMemory implements SlimWatch.Listener<NodePod> {
  public static final Duration KEEP_DELETED = Duration.ofMinutes(10);
  public static final int MAX_DELETED = 4096;

  private record Deleted(NodePod pod, long nanos) {}

  private final LongSupplier nanoTime;
  private final Consumer<NodePod> onGone;
  private final Map<String, NodePod> live = new HashMap<>();
  private final Deque<Deleted> deleted = new ArrayDeque<>();

  /** {@code onGone} hears of each pod that ceased to exist, on the caller's thread. */
  public PodMemory(LongSupplier nanoTime, Consumer<NodePod> onGone) {
    this.nanoTime = nanoTime;
    this.onGone = onGone;
  }

  @Override
  public void replaced(List<NodePod> all) {
    List<NodePod> missing;
    synchronized (this) {
      Map<String, NodePod> before = new HashMap<>(live);
      live.clear();
      for (NodePod pod : all) {
        live.put(pod.ref().uid(), pod);
        before.remove(pod.ref().uid());
      }
      missing = List.copyOf(before.values());
      missing.forEach(this::bury);
    }
    missing.forEach(onGone);
  }

  @Override
  public synchronized void changed(NodePod pod) {
    live.put(pod.ref().uid(), pod);
  }

  @Override
  public void gone(NodePod pod) {
    synchronized (this) {
      live.remove(pod.ref().uid());
      bury(pod);
    }
    onGone.accept(pod);
  }

  private void bury(NodePod pod) {
    deleted.addFirst(new Deleted(pod, nanoTime.getAsLong()));
    if (deleted.size() > MAX_DELETED) {
      deleted.removeLast();
    }
  }

  /** Every pod that exists. */
  public synchronized List<NodePod> live() {
    return List.copyOf(live.values());
  }

  /** A pod that exists, by UID. */
  public synchronized Optional<NodePod> live(String uid) {
    return Optional.ofNullable(live.get(uid));
  }

  /** The pod that exists under the name, then deleted ones, the last deleted first. */
  public synchronized List<NodePod> named(String namespace, String name) {
    long now = nanoTime.getAsLong();
    deleted.removeIf(d -> now - d.nanos > KEEP_DELETED.toNanos());
    List<NodePod> found = new ArrayList<>();
    live.values().stream().filter(p -> is(p, namespace, name)).forEach(found::add);
    deleted.stream().map(Deleted::pod).filter(p -> is(p, namespace, name)).forEach(found::add);
    return found;
  }

  private static boolean is(NodePod pod, String namespace, String name) {
    return pod.ref().namespace().equals(namespace) && pod.ref().name().equals(name);
  }
}
