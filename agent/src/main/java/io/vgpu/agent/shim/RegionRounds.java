package io.vgpu.agent.shim;

import io.vertx.core.Future;
import java.util.Collection;
import java.util.function.Function;

/** Work over all attached containers at once, on lane {@code regions}. */
@FunctionalInterface
public interface RegionRounds {
  /**
   * Runs {@code work} on the lane; the containers are not to be kept beyond it. Fails at once when
   * the lane is full.
   */
  <T> Future<T> round(Function<Collection<OpenContainer>, T> work);
}
