package io.vgpu.e2e.faults;

import static org.assertj.core.api.Assertions.assertThat;

import io.vgpu.e2e.cluster.Cluster;
import io.vgpu.e2e.junit.RealCluster;
import io.vgpu.e2e.product.Checkout;
import java.io.IOException;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * The quickest rows of the fault matrix (docs/fault-matrix.md); all of it is {@code make
 * soak-agent}.
 */
@RealCluster
class FaultsIT {
  /** Region files are made, the kubelet has no answer yet: the note of it is about to appear. */
  private static final String STEP = "Checkpoint.write: Files.move #2";

  private final Cluster cluster;

  FaultsIT(Cluster cluster) {
    this.cluster = cluster;
  }

  @Test
  void nothingIsLostByTheQuickestFaults() throws IOException {
    SoakRun run = new SoakRun(cluster, Checkout.find(), System.out);
    run.begin();
    run.play(
        Stream.concat(PlainFaults.all().stream(), CardFaults.all().stream()).toList(),
        name ->
            name.equals("kubelet killed in a burst and started anew")
                || name.equals("disk of the notes full for 5 s")
                || name.equals("card lost, the agent started anew"));
    run.playSteps(name -> name.endsWith("before step") || name.endsWith(STEP), 1);
    List<FaultResult> results = run.results();
    results.forEach(r -> System.out.println(r.line()));
    run.end();
    assertThat(results).hasSize(6);
    assertThat(results).allSatisfy(r -> assertThat(r.findings()).as(r.line()).isEmpty());
  }

  /** The next class needs a cluster without any part of ours. */
  @AfterEach
  void clean() {
    cluster.cleanUp();
  }
}
