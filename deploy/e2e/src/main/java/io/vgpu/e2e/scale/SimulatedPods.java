package io.vgpu.e2e.scale;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import io.vgpu.claim.Names;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;

/** Pods for {@link SimulatedNodes}: nothing of them ever runs, so they end without grace. Pure. */
public final class SimulatedPods {
  private static final Names NAMES = Names.DEFAULT;
  private static final int[] CORES = {5, 10, 20, 40};
  private static final int[] MEMORY_MIB = {2_048, 4_096, 8_192, 16_384};

  private SimulatedPods() {}

  /** One vGPU each, of cores and memory that the seed decides. */
  public static List<Pod> vgpu(
      String namespace, String prefix, int count, Map<String, String> annotations, long seed) {
    Random random = new Random(seed);
    return IntStream.range(0, count)
        .mapToObj(
            i ->
                pod(
                    namespace,
                    prefix + "-" + i,
                    annotations,
                    Map.of(
                        NAMES.vgpuNumber(), "1",
                        NAMES.vgpuCores(), "" + CORES[random.nextInt(CORES.length)],
                        NAMES.vgpuMemory(), "" + MEMORY_MIB[random.nextInt(MEMORY_MIB.length)])))
        .toList();
  }

  /** The same for kube-scheduler alone: one of a resource that it counts itself. */
  public static List<Pod> inTree(String namespace, String prefix, int count) {
    return alike(namespace, prefix, count, Map.of(SimulatedNodes.IN_TREE_RESOURCE, "1"));
  }

  /** Pods that want CPU and nothing else. */
  public static List<Pod> withoutCards(String namespace, String prefix, int count) {
    return alike(namespace, prefix, count, Map.of());
  }

  private static List<Pod> alike(
      String namespace, String prefix, int count, Map<String, String> limits) {
    return IntStream.range(0, count)
        .mapToObj(i -> pod(namespace, prefix + "-" + i, Map.of(), limits))
        .toList();
  }

  /** One pod for our scheduler, with these limits besides a little CPU. */
  public static Pod pod(
      String namespace, String name, Map<String, String> annotations, Map<String, String> limits) {
    Map<String, Quantity> all = new LinkedHashMap<>();
    all.put("cpu", new Quantity("100m"));
    limits.forEach((resource, amount) -> all.put(resource, new Quantity(amount)));
    return new PodBuilder()
        .withNewMetadata()
        .withNamespace(namespace)
        .withName(name)
        .withAnnotations(annotations)
        .endMetadata()
        .withNewSpec()
        .withSchedulerName(Names.SCHEDULER_NAME)
        .withTerminationGracePeriodSeconds(0L)
        .withAutomountServiceAccountToken(false)
        .withEnableServiceLinks(false)
        .addNewContainer()
        .withName("main")
        .withImage("example.com/nothing:1")
        .withNewResources()
        .withLimits(all)
        .endResources()
        .endContainer()
        .endSpec()
        .build();
  }
}
