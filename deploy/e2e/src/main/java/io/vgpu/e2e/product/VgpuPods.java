package io.vgpu.e2e.product;

import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import io.vgpu.claim.Names;
import io.vgpu.e2e.cluster.Images;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Pods that ask for vGPUs and print what their containers were given; see {@link ContainerView} for
 * the reader.
 */
public final class VgpuPods {
  /** Prints sections that {@link ContainerView} reads, ended by {@code ### end}. */
  static final String PRINT_WHAT_I_SEE =
      """
      echo "### env"; env | grep -E '^(VGPU_|NVIDIA_|CUDA_)' | sort
      echo "### mounts"; grep -E ' /etc/(vgpu-manager|ld.so.preload)' /proc/self/mountinfo | cut -d' ' -f5,6
      echo "### devices"; ls /dev | grep '^nvidia'
      echo "### preload"; cat /etc/ld.so.preload; grep -c libvgpu-control.so /proc/self/maps
      echo "### limits"; shim-inspect --json --dir /etc/vgpu-manager
      echo "### end"
      """;

  private VgpuPods() {}

  /** A container's limits of our three resources; zero leaves a resource out. */
  public static Map<String, Quantity> limits(long number, long cores, long memoryMiB) {
    Map<String, Quantity> limits = new LinkedHashMap<>();
    put(limits, Names.DEFAULT.vgpuNumber(), number);
    put(limits, Names.DEFAULT.vgpuCores(), cores);
    put(limits, Names.DEFAULT.vgpuMemory(), memoryMiB);
    return limits;
  }

  private static void put(Map<String, Quantity> limits, String resource, long amount) {
    if (amount != 0) {
      limits.put(resource, new Quantity(Long.toString(amount)));
    }
  }

  /**
   * A container that prints what it sees and then runs {@code then}, e.g. {@code exec sleep 3600}
   * or {@code exit 0}.
   */
  public static Container container(String name, Map<String, Quantity> limits, String then) {
    return new ContainerBuilder()
        .withName(name)
        .withImage(Images.EXAMPLE)
        .withImagePullPolicy("Never")
        .withCommand("bash", "-c", PRINT_WHAT_I_SEE + then)
        .withNewResources()
        .withLimits(limits)
        .endResources()
        .build();
  }

  /** A pod for our scheduler. */
  public static Pod pod(
      String namespace, String name, Map<String, String> annotations, List<Container> containers) {
    return new PodBuilder()
        .withNewMetadata()
        .withNamespace(namespace)
        .withName(name)
        .withAnnotations(annotations)
        .endMetadata()
        .withNewSpec()
        .withSchedulerName(Names.SCHEDULER_NAME)
        .withRestartPolicy("Never")
        .withTerminationGracePeriodSeconds(1L)
        .withAutomountServiceAccountToken(false)
        .withContainers(containers)
        .endSpec()
        .build();
  }
}
