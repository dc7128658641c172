package io.vgpu.kube;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.KubernetesResourceList;
import io.fabric8.kubernetes.api.model.ListOptionsBuilder;
import io.fabric8.kubernetes.client.Watch;
import io.fabric8.kubernetes.client.Watcher;
import io.fabric8.kubernetes.client.dsl.Listable;
import io.fabric8.kubernetes.client.dsl.Watchable;
import java.time.Duration;
import java.util.List;

/**
 * Where a {@link SlimWatch} reads from; calls block and throw {@code KubernetesClientException}.
 */
public interface SlimSource<T extends HasMetadata> {
  /** After which the server ends a watch. */
  Duration WATCH_LENGTH = Duration.ofMinutes(5);

  /**
   * One page of a list.
   *
   * @param next how the following page is asked for, empty after the last
   * @param resourceVersion from where a watch sees every later change
   */
  record Page<T>(List<T> items, String next, String resourceVersion) {
    public Page {
      items = List.copyOf(items);
    }
  }

  /** The first page for an empty {@code next}. */
  Page<T> page(String next);

  /**
   * Watches from a version on, without reconnecting by itself: every end reaches {@code onClose}.
   */
  Watch watch(String resourceVersion, Watcher<T> watcher);

  /**
   * Reads through a fabric8 operation, e.g. {@code client.pods().inAnyNamespace()}, in pages of
   * {@code pageSize}.
   */
  static <
          T extends HasMetadata,
          L extends KubernetesResourceList<T>,
          O extends Listable<L> & Watchable<T>>
      SlimSource<T> of(O operation, long pageSize) {
    return new SlimSource<>() {
      @Override
      public Page<T> page(String next) {
        ListOptionsBuilder options = new ListOptionsBuilder().withLimit(pageSize);
        if (!next.isEmpty()) {
          options.withContinue(next);
        }
        L list = operation.list(options.build());
        String more = list.getMetadata().getContinue();
        return new Page<>(
            list.getItems(), more == null ? "" : more, list.getMetadata().getResourceVersion());
      }

      @Override
      public Watch watch(String resourceVersion, Watcher<T> watcher) {
        return operation.watch(
            new ListOptionsBuilder()
                .withResourceVersion(resourceVersion)
                .withAllowWatchBookmarks(true)
                .withTimeoutSeconds(WATCH_LENGTH.toSeconds())
                .build(),
            watcher);
      }
    };
  }
}
