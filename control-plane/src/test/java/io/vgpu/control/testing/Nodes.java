package io.vgpu.control.testing;

import io.vgpu.claim.CordonCodec;
import io.vgpu.claim.InventoryCodec;
import io.vgpu.control.cluster.ClusterState;
import io.vgpu.control.cluster.NodeRecord;
import io.vgpu.control.cluster.NodeView;
import io.vgpu.model.DeviceCordon;
import io.vgpu.model.GpuDevice;
import io.vgpu.model.GpuUuid;
import io.vgpu.model.NodeConfig;
import io.vgpu.model.Use;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** The fixtures of control-plane.md 8: nodes by their cards. */
public final class Nodes {
  public static final String TI3080 = "NVIDIA RTX3080Ti";
  public static final String TI4080 = "NVIDIA RTX4080Ti";

  private Nodes() {}

  /** A card with 100 cores. */
  public static GpuDevice card(int id, String type, long memory, int slots, int numa) {
    return card(id, type, memory, slots, numa, 100);
  }

  public static GpuDevice card(int id, String type, long memory, int slots, int numa, int cores) {
    return new GpuDevice(
        id, type, uuid(id), cores, memory, slots, numa, false, "0000:0" + id + ":00.0", 8.6f, true);
  }

  public static GpuUuid uuid(int id) {
    return new GpuUuid("GPU-card-" + id);
  }

  /** Four GPUs, two of 12288 MiB on NUMA 0, two of 20480 MiB on NUMA 1. */
  public static List<GpuDevice> m4() {
    return List.of(
        card(0, TI3080, 12288, 10, 0),
        card(1, TI3080, 12288, 10, 0),
        card(2, TI4080, 20480, 10, 1),
        card(3, TI4080, 20480, 10, 1));
  }

  /** {@code n} GPUs of 10 slots and 24000 MiB, NUMA unknown. */
  public static List<GpuDevice> u(int n) {
    return alike(n, 24000);
  }

  public static List<GpuDevice> alike(int n, long memory) {
    return IntStream.range(0, n).mapToObj(i -> card(i, "NVIDIA A10", memory, 10, -1)).toList();
  }

  public static NodeRecord record(String name, List<GpuDevice> devices, NodeConfig config) {
    return new NodeRecord(
            name,
            devices.stream().mapToLong(GpuDevice::number).sum(),
            InventoryCodec.encodeRegister(devices),
            InventoryCodec.encodeConfig(config))
        .cordoned(cordons(devices));
  }

  /** What an operator writes about those of the cards that are cordoned. */
  public static @Nullable String cordons(List<GpuDevice> devices) {
    Map<GpuUuid, DeviceCordon> cordons = new HashMap<>();
    devices.stream()
        .filter(d -> d.withheld() == GpuDevice.Withheld.CORDONED)
        .forEach(d -> cordons.put(d.uuid(), new DeviceCordon(DeviceCordon.Mode.CORDON, "", "")));
    return CordonCodec.changed(null, cordons, List.of());
  }

  public static NodeView view(List<GpuDevice> devices) {
    return view("n1", devices, NodeConfig.DEFAULT);
  }

  public static NodeView view(String name, List<GpuDevice> devices, NodeConfig config) {
    return NodeView.empty(record(name, devices, config), 0);
  }

  /** The same node with some of each card in use; missing entries are unused. */
  public static NodeView used(NodeView node, Use... used) {
    List<NodeView.Card> cards = new ArrayList<>();
    for (int i = 0; i < node.cards().size(); i++) {
      NodeView.Card c = node.cards().get(i);
      cards.add(new NodeView.Card(c.device(), c.total(), i < used.length ? used[i] : Use.ZERO));
    }
    return new NodeView(node.name(), node.offer(), cards, node.inFlight());
  }

  /** Ignores what would be logged. */
  public static final ClusterState.Listener QUIET =
      new ClusterState.Listener() {
        @Override
        public void uncounted(io.vgpu.control.cluster.PodRecord pod, String why) {}

        @Override
        public void overcommitted(String node, GpuUuid card, Use used, Use total) {}
      };
}
