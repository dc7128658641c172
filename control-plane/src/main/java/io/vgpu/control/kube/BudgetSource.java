package io.vgpu.control.kube;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.policy.v1.PodDisruptionBudget;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.Watch;
import io.fabric8.kubernetes.client.Watcher;
import io.fabric8.kubernetes.client.WatcherException;
import io.vgpu.control.cluster.Budget;
import io.vgpu.kube.SlimSource;
import java.net.HttpURLConnection;

/**
 * Disruption budgets in the version that the API server has: {@code policy/v1}, before Kubernetes
 * 1.21 {@code v1beta1}. Asked anew with each list, so that an upgrade is noticed. One thread at a
 * time, as {@link io.vgpu.kube.SlimWatch} does it.
 */
final class BudgetSource implements SlimSource<HasMetadata> {
  private final SlimSource<PodDisruptionBudget> now;
  private final SlimSource<io.fabric8.kubernetes.api.model.policy.v1beta1.PodDisruptionBudget> old;
  private boolean onlyOld;

  BudgetSource(KubernetesClient client, long pageSize) {
    this.now = SlimSource.of(client.policy().v1().podDisruptionBudget().inAnyNamespace(), pageSize);
    this.old =
        SlimSource.of(client.policy().v1beta1().podDisruptionBudget().inAnyNamespace(), pageSize);
  }

  /** Of either version. */
  static Budget read(HasMetadata budget) {
    return switch (budget) {
      case PodDisruptionBudget b -> BudgetReader.read(b);
      case io.fabric8.kubernetes.api.model.policy.v1beta1.PodDisruptionBudget b ->
          BudgetReader.read(b);
      default -> throw new IllegalArgumentException("not a budget: " + budget.getKind());
    };
  }

  @Override
  public Page<HasMetadata> page(String next) {
    if (next.isEmpty()) {
      onlyOld = false;
    }
    if (!onlyOld) {
      try {
        return widened(now.page(next));
      } catch (KubernetesClientException e) {
        if (!next.isEmpty() || !unserved(e)) {
          throw e;
        }
        onlyOld = true;
      }
    }
    return widened(old.page(next));
  }

  private static boolean unserved(KubernetesClientException e) {
    return e.getCode() == HttpURLConnection.HTTP_NOT_FOUND;
  }

  private static Page<HasMetadata> widened(Page<? extends HasMetadata> page) {
    return new Page<>(
        page.items().stream().map(HasMetadata.class::cast).toList(),
        page.next(),
        page.resourceVersion());
  }

  @Override
  public Watch watch(String resourceVersion, Watcher<HasMetadata> watcher) {
    try {
      return onlyOld
          ? old.watch(resourceVersion, new Narrow<>(watcher))
          : now.watch(resourceVersion, new Narrow<>(watcher));
    } catch (KubernetesClientException e) {
      if (!unserved(e)) {
        throw e;
      }
      // upgraded, or gone back: the next list finds out which
      throw new KubernetesClientException(e.getMessage(), HttpURLConnection.HTTP_GONE, null);
    }
  }

  /** Hands on what is of a narrower type. */
  private record Narrow<T extends HasMetadata>(Watcher<HasMetadata> to) implements Watcher<T> {
    @Override
    public void eventReceived(Action action, T object) {
      to.eventReceived(action, object);
    }

    @Override
    public void onClose(WatcherException cause) {
      to.onClose(cause);
    }

    @Override
    public void onClose() {
      to.onClose();
    }
  }
}
