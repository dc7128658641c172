package io.vgpu.e2e.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.vgpu.e2e.junit.RealCluster;
import io.vgpu.e2e.junit.SharedCluster;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A cluster leaves nothing on the machine, however it ends; and a machine bears one. */
@RealCluster
class ClusterLifecycleIT {
  private final SharedCluster shared;

  ClusterLifecycleIT(SharedCluster shared) {
    this.shared = shared;
  }

  @Test
  void stopLeavesNothing() {
    Cluster cluster = shared.get();
    runPod(cluster);
    assertThat(cluster.leftovers().list()).isNotEmpty();
    Map<String, String> before = KernelSettings.saved(cluster.paths());
    shared.stop();
    assertThat(cluster.leftovers().list()).isEmpty();
    assertThat(KernelSettings.current()).isEqualTo(before).isNotEmpty();
  }

  @Test
  void nextStartClearsWhatACrashLeft() {
    Cluster crashed = shared.get();
    runPod(crashed);
    for (Part part : Part.values()) {
      crashed.kill9(part);
    }
    crashed.client().close();
    assertThat(crashed.leftovers().list())
        .anyMatch(line -> line.startsWith("shim"))
        .anyMatch(line -> line.startsWith("mount"))
        .anyMatch(line -> line.startsWith("cgroup"));
    shared.abandon();
    Cluster next = shared.get();
    assertThat(next.client().pods().inAnyNamespace().list().getItems()).isEmpty();
    assertThat(next.leftovers().list()).noneMatch(line -> line.startsWith("shim"));
    runPod(next);
  }

  @Test
  void secondClusterOnTheMachineIsRefused(@TempDir Path other) {
    ClusterConfig config = shared.get().config().withRunDir(other).withNetns("other");
    assertThatThrownBy(() -> Cluster.start(config, Progress.to(System.out)))
        .isInstanceOf(ClusterException.class)
        .hasMessageContaining("one at a time")
        .hasMessageContaining(shared.get().config().runDir().toString());
    assertThat(other).isEmptyDirectory();
    shared.get().awaitNodeReady();
  }

  private void runPod(Cluster cluster) {
    Pod pod =
        cluster
            .client()
            .resource(
                new PodBuilder()
                    .withNewMetadata()
                    .withNamespace("default")
                    .withGenerateName("runs-")
                    .endMetadata()
                    .withNewSpec()
                    .addNewContainer()
                    .withName("main")
                    .withImage(Images.BUSYBOX)
                    .withCommand("sleep", "1000")
                    .endContainer()
                    .endSpec()
                    .build())
            .create();
    cluster.client().resource(pod).waitUntilReady(60, TimeUnit.SECONDS);
  }
}
