package io.vgpu.e2e.burst;

import static org.assertj.core.api.Assertions.assertThat;

import io.vgpu.e2e.cluster.Cluster;
import io.vgpu.e2e.junit.RealCluster;
import io.vgpu.e2e.product.Checkout;
import io.vgpu.e2e.product.Product;
import io.vgpu.e2e.product.ProductConfig;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/**
 * A rolling update of the agent while a hundred pods are admitted by the real kubelet (D22,
 * docs/adr/0022). What the gap costs is a figure of {@code make bench-upgrade}; here it is only
 * bounded by ten times what it must be. Not one of the tests that always run: on a busy machine one
 * pod in a run may still be taken for another that the kubelet rejected in the gap (docs/adr/0022,
 * open), {@code make soak-upgrade}.
 */
@RealCluster
class UpgradeSoak {
  private static final long SEED = 20_251_201;
  private static final double TEN_TIMES_MS = 1000;

  private final Cluster cluster;

  UpgradeSoak(Cluster cluster) {
    this.cluster = cluster;
  }

  @Test
  @DisplayName("13-23: an update of the agent under a hundred pods loses none of them")
  void everyPodEndsWithItsClaimAcrossAnUpgrade() {
    Product product = new Product(cluster, Checkout.find());
    product.start(ProductConfig.DEFAULT);
    ChangeReport report =
        new ChangeRun(cluster, product, "upgrade", System.out).run(Change.UPGRADE, SEED);
    report.print(System.out);
    assertThat(report.findings()).as(report.line()).isEmpty();
    assertThat(report.gapMs()).isLessThan(TEN_TIMES_MS);
  }

  /** The next class needs a cluster without any part of ours. */
  @AfterEach
  void clean() {
    cluster.cleanUp();
  }
}
