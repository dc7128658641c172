package io.vgpu.control.cluster;

import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vgpu.kube.SlimWatch;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** The disruption budgets of the cluster, as the watch shows them. Any thread reads. */
public final class Budgets implements SlimWatch.Listener<Budget> {
  private final Map<String, Budget> byName = new ConcurrentHashMap<>();
  private final Promise<Void> seen = Promise.promise();

  /** Whether any of them forbids to disrupt the pod. */
  public boolean protect(PodRecord pod) {
    return byName.values().stream().anyMatch(b -> b.protects(pod));
  }

  /** Completes with the first list. */
  public Future<Void> synced() {
    return seen.future();
  }

  @Override
  public void replaced(List<Budget> all) {
    byName.keySet().retainAll(all.stream().map(Budgets::key).toList());
    all.forEach(this::changed);
    seen.tryComplete();
  }

  @Override
  public void changed(Budget budget) {
    byName.put(key(budget), budget);
  }

  @Override
  public void gone(Budget budget) {
    byName.remove(key(budget));
  }

  private static String key(Budget b) {
    return b.namespace() + "/" + b.name();
  }
}
