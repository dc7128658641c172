package io.vgpu.e2e.burst;

import static org.assertj.core.api.Assertions.assertThat;

import io.vgpu.e2e.cluster.Cluster;
import io.vgpu.e2e.junit.RealCluster;
import io.vgpu.e2e.product.Checkout;
import io.vgpu.e2e.product.Product;
import java.nio.file.Path;
import java.time.Clock;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * One truth under a burst, on the real kubelet: one fixed seed, and one that differs each time and
 * is printed ({@code -Dvgpu.burst.seed=N} repeats it).
 */
@RealCluster
class BurstIT {
  private static final long FIXED_SEED = 20_251_130;

  private final Cluster cluster;

  BurstIT(Cluster cluster) {
    this.cluster = cluster;
  }

  @Test
  void everyContainerHasExactlyItsClaimWithTheFixedSeed() {
    burst(FIXED_SEED);
  }

  @Test
  void everyContainerHasExactlyItsClaimWithARotatingSeed() {
    burst(Long.getLong("vgpu.burst.seed", Clock.systemUTC().millis()));
  }

  private void burst(long seed) {
    Checkout checkout = Checkout.find();
    BurstReport report =
        new BurstRun(cluster, new Product(cluster, checkout), "burst", System.out).run(seed);
    report.print(System.out);
    if (!report.pass()) {
      Path folder = checkout.root().resolve("deploy/e2e/target/burst/seed-" + seed);
      report.keep(folder, cluster.paths().logs());
    }
    assertThat(report.findings()).as(report.line()).isEmpty();
  }

  /** The next burst needs a clean cluster without any part of ours. */
  @AfterEach
  void clean() {
    cluster.cleanUp();
  }
}
