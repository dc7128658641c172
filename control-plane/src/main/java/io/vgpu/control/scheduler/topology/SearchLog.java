package io.vgpu.control.scheduler.topology;

/** Told of every search for the best part of a group; any thread. */
@FunctionalInterface
public interface SearchLog {
  /** Nobody listens: simulations and reads. */
  SearchLog SILENT = (exhaustive, candidates) -> {};

  /** {@code exhaustive}: all parts were compared; else one card after the other. */
  void searched(boolean exhaustive, int candidates);
}
