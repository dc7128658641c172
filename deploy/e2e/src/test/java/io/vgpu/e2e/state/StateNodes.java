package io.vgpu.e2e.state;

import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.vgpu.claim.InventoryCodec;
import io.vgpu.claim.Names;
import io.vgpu.model.GpuDevice;
import io.vgpu.model.GpuUuid;
import io.vgpu.model.NodeConfig;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/** Nodes that exist in the API only, as an agent would have described them. */
final class StateNodes implements AutoCloseable {
  static final long CARD_MIB = 24_000;
  static final int SLOTS = 10;
  private static final Names NAMES = Names.DEFAULT;

  private final KubernetesClient client;
  private final List<String> names = new ArrayList<>();
  private final List<GpuDevice> cards = new ArrayList<>();

  StateNodes(KubernetesClient client) {
    this.client = client;
  }

  /** Makes a node with so many cards of 100 % and {@value #CARD_MIB} MiB. */
  void create(String name, int count) {
    List<GpuDevice> own = cardsOf(name, count);
    client.resource(node(name, own)).create();
    names.add(name);
    cards.addAll(own);
  }

  /** Describes the node's cards anew, as an agent that lost some would. */
  void describe(String name, List<GpuDevice> left) {
    Map<String, String> texts = texts(left);
    client
        .nodes()
        .withName(name)
        .edit(n -> new NodeBuilder(n).editMetadata().addToAnnotations(texts).endMetadata().build());
  }

  /** The node goes; its pods stay. */
  void delete(String name) {
    client.nodes().withName(name).delete();
  }

  static List<GpuDevice> cardsOf(String node, int count) {
    return IntStream.range(0, count)
        .mapToObj(
            i ->
                new GpuDevice(
                    i,
                    "NVIDIA A10",
                    new GpuUuid("GPU-" + node + "-" + i),
                    100,
                    CARD_MIB,
                    SLOTS,
                    -1,
                    false,
                    "0000:0" + i + ":00.0",
                    8.6f,
                    true))
        .toList();
  }

  private static Node node(String name, List<GpuDevice> own) {
    Quantity slots = new Quantity(Long.toString((long) own.size() * SLOTS));
    return new NodeBuilder()
        .withNewMetadata()
        .withName(name)
        .withAnnotations(texts(own))
        .endMetadata()
        .withNewStatus()
        .addToCapacity(NAMES.vgpuNumber(), slots)
        .addToAllocatable(NAMES.vgpuNumber(), slots)
        .addToAllocatable("cpu", new Quantity("1000"))
        .addToAllocatable("memory", new Quantity("4000Gi"))
        .addToAllocatable("pods", new Quantity("1000"))
        .endStatus()
        .build();
  }

  private static Map<String, String> texts(List<GpuDevice> own) {
    return Map.of(
        NAMES.nodeDeviceRegister(), InventoryCodec.encodeRegister(own),
        NAMES.nodeConfigInfo(), InventoryCodec.encodeConfig(NodeConfig.DEFAULT));
  }

  List<String> names() {
    return List.copyOf(names);
  }

  /** Every card that was ever made. */
  List<GpuDevice> cards() {
    return List.copyOf(cards);
  }

  @Override
  public void close() {
    names.forEach(this::delete);
  }
}
