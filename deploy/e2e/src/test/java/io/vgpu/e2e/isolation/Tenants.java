package io.vgpu.e2e.isolation;

import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerBuilder;
import io.fabric8.kubernetes.api.model.EnvVar;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.SecurityContextBuilder;
import io.fabric8.kubernetes.api.model.VolumeBuilder;
import io.fabric8.kubernetes.api.model.VolumeMountBuilder;
import io.vgpu.claim.Names;
import io.vgpu.e2e.cluster.Cluster;
import io.vgpu.e2e.cluster.Images;
import io.vgpu.e2e.product.DriverMounts;
import io.vgpu.e2e.product.VgpuPods;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * The pods: who only works, who attacks under our limits, and who attacks where nothing defends.
 */
final class Tenants {
  static final String CONTAINER = "main";
  static final int MEMORY_MIB = 1024;
  private static final int CORES = 10;
  private static final String TOOLS = "/opt/attack";
  private static final String ATTACK = "PATH=$PATH:" + TOOLS + "; . " + TOOLS + "/attack.sh";

  /** Where the control has what the agent's answer has at its own places. */
  private static final String OPEN = "/opt/open";

  private final Cluster cluster;
  private final String namespace;
  private final Path tools;

  Tenants(Cluster cluster, String namespace, Path tools) {
    this.cluster = cluster;
    this.namespace = namespace;
    this.tools = tools;
  }

  /** Keeps its tenth of a card busy. */
  Pod neighbour(String name, String card) {
    return limited(name, card, "exec gpu-work --rounds 1000000 --seconds 600");
  }

  /** Attacks what the agent gave it; default capabilities, not privileged. */
  Pod attacker(String name, String card, long uid) {
    Pod pod = limited(name, card, "DIR=/etc/vgpu-manager/" + CONTAINER + "; " + ATTACK);
    Container container = only(pod);
    container.setSecurityContext(user(uid).build());
    mount(pod, "attack", tools, TOOLS, true);
    return pod;
  }

  /**
   * Attacks the same files and the same library laid out as the prior art does: named by the
   * environment, in a folder that can be written, with the host's processes in sight. Root may
   * mount besides.
   */
  Pod control(String name, String card, long uid, Path open) {
    Container asked =
        new ContainerBuilder()
            .withName(CONTAINER)
            .withImage(Images.EXAMPLE)
            .withImagePullPolicy("Never")
            .withCommand("bash", "-c", "DIR=" + OPEN + "; " + ATTACK)
            .withSecurityContext(user(uid).withPrivileged(uid == 0).build())
            .build();
    Pod pod = VgpuPods.pod(namespace, name, Map.of(), List.of(asked));
    pod.getSpec().setSchedulerName("default-scheduler");
    pod.getSpec().setHostPID(true);
    DriverMounts.into(pod, cluster);
    Container container = only(pod);
    List<EnvVar> env = new ArrayList<>(container.getEnv());
    env.add(new EnvVar("NVIDIA_VISIBLE_DEVICES", card, null));
    env.add(new EnvVar("LD_PRELOAD", OPEN + "/libvgpu-control.so", null));
    env.add(new EnvVar("CUDA_SHIM_CONFIG_DIR", OPEN, null));
    container.setEnv(env);
    mount(pod, "attack", tools, TOOLS, true);
    mount(pod, "open", open, OPEN, false);
    container
        .getVolumeMounts()
        .add(
            new VolumeMountBuilder()
                .withName("open")
                .withMountPath("/etc/ld.so.preload")
                .withSubPath("ld.so.preload")
                .build());
    return pod;
  }

  private Pod limited(String name, String card, String then) {
    Pod pod =
        VgpuPods.pod(
            namespace,
            name,
            Map.of(Names.DEFAULT.includeGpuUuid(), card),
            List.of(VgpuPods.container(CONTAINER, VgpuPods.limits(1, CORES, MEMORY_MIB), then)));
    return DriverMounts.into(pod, cluster);
  }

  private static SecurityContextBuilder user(long uid) {
    return new SecurityContextBuilder().withRunAsUser(uid).withRunAsGroup(uid);
  }

  private static Container only(Pod pod) {
    return pod.getSpec().getContainers().getFirst();
  }

  private static void mount(Pod pod, String name, Path host, String path, boolean readOnly) {
    pod.getSpec()
        .getVolumes()
        .add(
            new VolumeBuilder()
                .withName(name)
                .withNewHostPath(host.toString(), "Directory")
                .build());
    Container container = only(pod);
    container.setVolumeMounts(new ArrayList<>(container.getVolumeMounts()));
    container
        .getVolumeMounts()
        .add(
            new VolumeMountBuilder()
                .withName(name)
                .withMountPath(path)
                .withReadOnly(readOnly)
                .build());
  }
}
