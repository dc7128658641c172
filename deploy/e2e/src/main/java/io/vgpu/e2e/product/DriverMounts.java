package io.vgpu.e2e.product;

import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.EnvVar;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.VolumeBuilder;
import io.fabric8.kubernetes.api.model.VolumeMount;
import io.fabric8.kubernetes.api.model.VolumeMountBuilder;
import io.vgpu.e2e.cluster.Cluster;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Gives a pod the fake driver, as a container runtime gives containers the real one: its libraries
 * read-only, and the shared file that is the cards.
 */
public final class DriverMounts {
  private static final String LIBRARIES = "/usr/local/nvidia/lib64";
  private static final String CARDS = "/run/fake-gpu";

  private DriverMounts() {}

  /** Adds them to every container of the pod. */
  public static Pod into(Pod pod, Cluster cluster) {
    var spec = pod.getSpec();
    spec.setVolumes(
        new ArrayList<>(
            List.of(
                new VolumeBuilder()
                    .withName("driver")
                    .withNewHostPath(FakeNode.libraries(cluster).toString(), "Directory")
                    .build(),
                new VolumeBuilder()
                    .withName("cards")
                    .withNewHostPath(FakeNode.cardsFolder(cluster).toString(), "Directory")
                    .build())));
    for (Container c : spec.getContainers()) {
      c.setVolumeMounts(List.of(mount("driver", LIBRARIES, true), mount("cards", CARDS, false)));
      c.setEnv(
          List.of(
              new EnvVar("LD_LIBRARY_PATH", LIBRARIES, null),
              new EnvVar("FAKE_GPUS", Path.of(CARDS, FakeNode.PROFILE).toString(), null)));
    }
    return pod;
  }

  private static VolumeMount mount(String name, String path, boolean readOnly) {
    return new VolumeMountBuilder()
        .withName(name)
        .withMountPath(path)
        .withReadOnly(readOnly)
        .build();
  }
}
