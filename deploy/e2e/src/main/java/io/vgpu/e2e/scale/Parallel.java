package io.vgpu.e2e.scale;

import io.vgpu.e2e.cluster.ClusterException;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Consumer;

/** Many calls of the API server, a few at a time; the first that fails is thrown. */
final class Parallel {
  private static final int AT_ONCE = 12;

  private Parallel() {}

  static <T> void each(List<T> all, Consumer<T> action) {
    try (ExecutorService threads = Executors.newFixedThreadPool(AT_ONCE)) {
      List<? extends Future<?>> calls =
          all.stream().map(one -> threads.submit(() -> action.accept(one))).toList();
      for (Future<?> call : calls) {
        call.get();
      }
    } catch (ExecutionException e) {
      throw new ClusterException("a call failed: " + e.getCause(), e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new ClusterException("interrupted between calls", e);
    }
  }
}
