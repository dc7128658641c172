package io.vgpu.control.simulate;

import io.vgpu.claim.Names;
import io.vgpu.control.cluster.NodeView;
import io.vgpu.control.packing.ClusterShape;
import io.vgpu.control.packing.Shapes;
import io.vgpu.runtime.UsageException;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;

/** Reads a cluster and a workload, by the files' endings. Throws {@link UsageException}. */
public final class SimFiles {
  private SimFiles() {}

  /** Both; {@code names} of the annotations and resources in YAML. */
  public static SimCluster read(Path nodes, Path pods, Names names) {
    KubeYaml yaml = new KubeYaml(names);
    List<NodeView> cluster = isYaml("--nodes", nodes) ? yaml.nodes(nodes) : Openb.nodes(nodes);
    if (ClusterShape.of(cluster).allCards() == 0) {
      throw new UsageException("--nodes " + nodes + ": no node has a usable card");
    }
    List<SimPod> workload =
        isYaml("--pods", pods) ? yaml.pods(pods, Shapes.of(cluster)) : Openb.pods(pods);
    if (workload.isEmpty()) {
      throw new UsageException("--pods " + pods + ": no pod to place");
    }
    if (isYaml("--nodes", nodes) != isYaml("--pods", pods)) {
      throw new UsageException(
          "--pods " + pods + ": must be in the format of --nodes, shares differ in their units");
    }
    return new SimCluster(cluster, workload);
  }

  private static boolean isYaml(String flag, Path file) {
    String name = file.toString().toLowerCase(Locale.ROOT);
    if (name.endsWith(".yaml") || name.endsWith(".yml") || name.endsWith(".json")) {
      return true;
    }
    if (!name.endsWith(".csv")) {
      throw new UsageException(
          flag + " " + file + ": must end in .csv (openb) or .yaml, .yml, .json (kubectl)");
    }
    return false;
  }
}
