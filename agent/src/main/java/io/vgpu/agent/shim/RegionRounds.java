package io.vgpu.agent.shim;

import io.vertx.core.Future;
import java.util.Collection;
import java.util.function.Consumer;
import java.util.function.Function;

/** Work over all attached containers at once, on lane {@code regions}. */
public interface RegionRounds {
  /**
   * Runs {@code work} on the lane; the containers are not to be touched beyond it. The collection
   * is the same as in the round before as long as the containers and their cards are the same.
   * Fails at once when the lane is full.
   */
  <T> Future<T> round(Function<Collection<OpenContainer>, T> work);

  /**
   * From then on {@code look} sees, on the lane, each attached container whose figures are about to
   * be zeroed or unmapped, so that nothing between the last round and that is missed.
   */
  Future<Void> beforeFiguresGo(Consumer<OpenContainer> look);
}
