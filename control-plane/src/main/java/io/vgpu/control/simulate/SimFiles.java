package io.vgpu.control.simulate;

import io.vgpu.runtime.UsageException;
import java.nio.file.Path;

/** Reads a cluster and a workload, by the files' endings. Throws {@link UsageException}. */
public final class SimFiles {
  private SimFiles() {}

  /** Both. */
  public static SimCluster read(Path nodes, Path pods) {
    return new SimCluster(Openb.nodes(nodes), Openb.pods(pods));
  }
}
