package io.vgpu.e2e.junit;

import io.vgpu.e2e.cluster.Cluster;
import io.vgpu.e2e.cluster.ClusterBinaries;
import io.vgpu.e2e.cluster.ClusterConfig;
import io.vgpu.e2e.cluster.Progress;
import io.vgpu.e2e.product.Checkout;
import java.nio.file.Path;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * One cluster for all test classes of a run: started when the first one needs it, stopped when the
 * run ends. With {@code -Dvgpu.keep=true} it is left running, and left as the last test left it;
 * {@code make cluster-stop} then ends it.
 */
public final class SharedCluster implements AutoCloseable {
  private final boolean keep = Boolean.getBoolean("vgpu.keep");
  private @Nullable Cluster cluster;

  /** The running cluster, started if there is none. */
  public synchronized Cluster get() {
    if (cluster == null) {
      Progress progress = Progress.to(System.out);
      ClusterConfig config = config();
      cluster = keep ? Cluster.startDetached(config, progress) : Cluster.start(config, progress);
    }
    return cluster;
  }

  /** Whether a cluster runs that an earlier class may have used. */
  synchronized boolean isStarted() {
    return cluster != null;
  }

  /** Stops it; the next {@link #get} starts another one. */
  public synchronized void stop() {
    if (cluster != null) {
      cluster.close();
      cluster = null;
    }
  }

  /** Forgets it without stopping anything, as if its owner had died; for tests of just that. */
  public synchronized void abandon() {
    cluster = null;
  }

  boolean isKept() {
    return keep;
  }

  @Override
  public void close() {
    if (!keep) {
      stop();
    }
  }

  private static ClusterConfig config() {
    Path binaries =
        Optional.ofNullable(System.getProperty("vgpu.cluster.binaries"))
            .map(Path::of)
            .orElseGet(ClusterBinaries::locate);
    ClusterConfig config =
        ClusterConfig.defaults(binaries).withExampleFiles(Checkout.find().exampleFiles());
    String runDir = System.getProperty("vgpu.run.dir");
    return runDir == null ? config : config.withRunDir(Path.of(runDir));
  }
}
