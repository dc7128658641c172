package io.vgpu.e2e.scale;

import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.NodeConditionBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.vgpu.claim.InventoryCodec;
import io.vgpu.claim.Names;
import io.vgpu.model.GpuDevice;
import io.vgpu.model.GpuUuid;
import io.vgpu.model.NodeConfig;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.IntStream;

/**
 * Nodes that are objects only: what a scheduler reads of them is there, no kubelet is. Ready as
 * long as no node lifecycle controller misses their heartbeat (40 s and more), or somebody calls
 * {@link #beat}. One thread uses it at a time.
 */
public final class SimulatedNodes {
  /** On each of them, so that pods can be kept to them. */
  public static final String LABEL = "vgpu-e2e.example.com/simulated";

  /** Counted by kube-scheduler alone: what vGPU pods are compared with. */
  public static final String IN_TREE_RESOURCE = "example.com/slot";

  private static final Names NAMES = Names.DEFAULT;
  private static final NodeConfig CONFIG = NodeConfig.DEFAULT;
  private static final int CARDS = 8;
  private static final long CARD_MIB = 81_920;
  private static final PatchContext MERGE = PatchContext.of(PatchType.JSON_MERGE);

  private final KubernetesClient client;
  private final Map<String, List<GpuDevice>> cards = new TreeMap<>();

  public SimulatedNodes(KubernetesClient client) {
    this.client = client;
  }

  /** Adds nodes of eight alike cards, {@code PREFIX-0} and so on. */
  public void addGpuNodes(String prefix, int count) {
    add(prefix, count, CARDS, CONFIG);
  }

  /** Adds nodes without a card. */
  public void addPlainNodes(String prefix, int count) {
    add(prefix, count, 0, CONFIG);
  }

  /** Adds one node with so many cards, each in so many slots. */
  public void addGpuNode(String name, int cardCount, int slots) {
    NodeConfig config = new NodeConfig(slots, 1, 1, 1);
    create(List.of(node(name, register(name, cardCount, slots), config)));
  }

  /** A node of eight cards that the cluster does not have, as an autoscaler would make it up. */
  public static Node template(String name) {
    return node(name, devices(name, CARDS, CONFIG.deviceSplit()), CONFIG);
  }

  /** The cluster's nodes as the API has them. */
  public List<Node> list() {
    return client.nodes().withLabel(LABEL).list().getItems();
  }

  private void add(String prefix, int count, int cardCount, NodeConfig config) {
    create(
        IntStream.range(0, count)
            .mapToObj(i -> prefix + "-" + i)
            .map(name -> node(name, register(name, cardCount, config.deviceSplit()), config))
            .toList());
  }

  private List<GpuDevice> register(String node, int count, int slots) {
    List<GpuDevice> devices = devices(node, count, slots);
    cards.put(node, devices);
    return devices;
  }

  private static List<GpuDevice> devices(String node, int count, int slots) {
    return IntStream.range(0, count).mapToObj(i -> card(node, i, slots)).toList();
  }

  private static GpuDevice card(String node, int index, int slots) {
    return new GpuDevice(
        index,
        "NVIDIA H100",
        new GpuUuid("GPU-" + node + "-" + index),
        100,
        CARD_MIB,
        slots,
        index * 2 / CARDS,
        false,
        "0000:0" + index + ":00.0",
        9.0f,
        true);
  }

  private void create(List<Node> nodes) {
    Parallel.each(
        nodes,
        node -> {
          client.resource(node).create();
          // admission taints every new node until a controller has seen it ready
          client
              .nodes()
              .withName(node.getMetadata().getName())
              .patch(MERGE, "{\"spec\":{\"taints\":null}}");
        });
  }

  private static Node node(String name, List<GpuDevice> devices, NodeConfig config) {
    Map<String, Quantity> capacity = new HashMap<>();
    capacity.put("cpu", new Quantity("64"));
    capacity.put("memory", new Quantity("512Gi"));
    capacity.put("pods", new Quantity("250"));
    capacity.put(IN_TREE_RESOURCE, new Quantity("80"));
    Map<String, String> annotations = new HashMap<>();
    if (!devices.isEmpty()) {
      long slots = devices.stream().mapToLong(GpuDevice::number).sum();
      capacity.put(NAMES.vgpuNumber(), new Quantity(Long.toString(slots)));
      annotations.put(NAMES.nodeDeviceRegister(), InventoryCodec.encodeRegister(devices));
      annotations.put(NAMES.nodeConfigInfo(), InventoryCodec.encodeConfig(config));
    }
    return new NodeBuilder()
        .withNewMetadata()
        .withName(name)
        .withLabels(Map.of(LABEL, "true", "kubernetes.io/hostname", name))
        .withAnnotations(annotations)
        .endMetadata()
        .withNewStatus()
        .withCapacity(capacity)
        .withAllocatable(capacity)
        .withConditions(
            new NodeConditionBuilder()
                .withType("Ready")
                .withStatus("True")
                .withReason("Simulated")
                .build())
        .endStatus()
        .build();
  }

  /** Every card, by the name of its node. */
  public Map<String, List<GpuDevice>> cards() {
    return Map.copyOf(cards);
  }

  /** Takes all of them away. */
  public void remove() {
    client.nodes().withLabel(LABEL).delete();
    cards.clear();
  }
}
