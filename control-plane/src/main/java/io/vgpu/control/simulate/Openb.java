package io.vgpu.control.simulate;

import io.vgpu.claim.InventoryCodec;
import io.vgpu.claim.Names;
import io.vgpu.control.cluster.Host;
import io.vgpu.control.cluster.NodeRecord;
import io.vgpu.control.cluster.NodeView;
import io.vgpu.control.cluster.PodRequest;
import io.vgpu.control.cluster.Wishes;
import io.vgpu.model.ContainerDemand;
import io.vgpu.model.ContainerKind;
import io.vgpu.model.GpuDevice;
import io.vgpu.model.GpuUuid;
import io.vgpu.model.NodeConfig;
import io.vgpu.model.PodDemand;
import io.vgpu.model.PodRef;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Reads clusters and workloads in the format of the openb trace (Alibaba, 2023): shares of cards in
 * thousandths, no memory of cards. So every card here has 1000 MiB, and a share is as many of them;
 * cores are rounded down, which never decides.
 */
final class Openb {
  private static final int SLOTS = 1000; // the trace knows no limit of pods a card
  private static final NodeConfig CONFIG = new NodeConfig(SLOTS, 1, 1, 1);
  private static final int LARGEST = 1_000_000_000;

  private Openb() {}

  /** Nodes of a {@code sn,cpu_milli,memory_mib,gpu,model} file. */
  static List<NodeView> nodes(Path file) {
    CsvTable table = CsvTable.read(file, "sn", "cpu_milli", "memory_mib", "gpu", "model");
    List<NodeView> nodes = new ArrayList<>();
    Set<String> names = new HashSet<>();
    for (CsvTable.Row row : table.rows()) {
      String name = row.text("sn");
      if (name.isEmpty() || !names.add(name)) {
        throw row.wrong("sn", "must be a name of its own");
      }
      int cards = row.number("gpu", 0, 64);
      if (cards > 0 && row.text("model").isEmpty()) {
        throw row.wrong("model", "a node with cards must say which");
      }
      Host host =
          new Host(row.number("cpu_milli", 0, LARGEST), row.number("memory_mib", 0, LARGEST));
      nodes.add(node(name, cards, row.text("model"), host));
    }
    return nodes;
  }

  private static NodeView node(String name, int cards, String model, Host host) {
    return NodeView.empty(record(name, cards, model, host), 0);
  }

  /** What such a node publishes. */
  static NodeRecord record(String name, int cards, String model, Host host) {
    List<GpuDevice> devices = new ArrayList<>();
    for (int i = 0; i < cards; i++) {
      devices.add(
          new GpuDevice(
              i, model, new GpuUuid("GPU-" + i), 100, 1000, SLOTS, -1, false, "", 0, true));
    }
    return new NodeRecord(
        name,
        (long) cards * SLOTS,
        InventoryCodec.encodeRegister(devices),
        InventoryCodec.encodeConfig(CONFIG),
        host);
  }

  /** Pods of a {@code name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec} file, by name. */
  static List<SimPod> pods(Path file) {
    CsvTable table =
        CsvTable.read(file, "name", "cpu_milli", "memory_mib", "num_gpu", "gpu_milli", "gpu_spec");
    List<SimPod> pods = new ArrayList<>();
    Map<PodRequest, Integer> kinds = new LinkedHashMap<>();
    for (CsvTable.Row row : table.rows()) {
      int count = row.number("num_gpu", 0, 16);
      int share = count == 0 ? 0 : row.number("gpu_milli", 1, 1000);
      if (count > 1 && share < 1000) {
        throw row.wrong("gpu_milli", "must be 1000 where num_gpu is above 1");
      }
      if (row.text("name").isEmpty()) {
        throw row.wrong("name", "must not be empty");
      }
      PodRequest request = request(row, count, share);
      int kind = kinds.computeIfAbsent(request.nameless(), k -> kinds.size());
      pods.add(new SimPod(request, kind, share, count));
    }
    pods.sort(Comparator.comparing(p -> p.request().pod().name()));
    return pods;
  }

  private static PodRequest request(CsvTable.Row row, int count, int share) {
    PodDemand demand =
        new PodDemand(
            List.of(
                new ContainerDemand(
                    "main", ContainerKind.APP, count, share / 10, count == 0 ? 0 : share)));
    Map<String, String> annotations =
        row.text("gpu_spec").isEmpty()
            ? Map.of()
            : Map.of(Names.DEFAULT.includeGpuType(), row.text("gpu_spec").replace('|', ','));
    Host host = new Host(row.number("cpu_milli", 0, LARGEST), row.number("memory_mib", 0, LARGEST));
    return new PodRequest(
        new PodRef("default", row.text("name"), row.text("name")),
        "",
        demand,
        Wishes.of(annotations, Names.DEFAULT),
        0,
        List.of(),
        host);
  }
}
