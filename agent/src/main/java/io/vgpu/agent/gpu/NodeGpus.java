package io.vgpu.agent.gpu;

import io.vgpu.agent.gpu.PhysicalGpu.MigDevice;
import io.vgpu.model.GpuDevice;
import io.vgpu.model.GpuUuid;
import io.vgpu.model.NodeConfig;
import io.vgpu.model.NodeInventory;
import io.vgpu.model.NodeTopology;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * The cards found at start, and which of them are healthy now. Reads are lock-free snapshots; marks
 * may come from any thread. When a card is marked, and when no longer, is decided by {@link
 * GpuHealthVerticle}.
 */
public final class NodeGpus implements GpuInventory {
  private final List<PhysicalGpu> gpus;
  private final Optional<NodeTopology> topology;
  private NodeConfig config; // guarded by this, as what follows
  private DeviceSelection excluded;
  private final Map<GpuUuid, String> causes = new HashMap<>();
  private volatile Snapshot snapshot;

  private record Snapshot(List<Card> cards, NodeInventory published) {}

  /**
   * {@code topology}: empty where links are not published; {@code excluded} cards are unhealthy
   * from the start.
   */
  public NodeGpus(
      List<PhysicalGpu> gpus,
      NodeConfig config,
      Optional<NodeTopology> topology,
      DeviceSelection excluded) {
    this.gpus = List.copyOf(gpus);
    this.config = config;
    this.topology = topology;
    this.excluded = excluded;
    this.snapshot = take();
  }

  @Override
  public List<Card> cards() {
    return snapshot.cards();
  }

  @Override
  public NodeInventory published() {
    return snapshot.published();
  }

  /**
   * Another division of the cards, other exclusions; false when nothing of it is new. A card that
   * failed stays unhealthy, whether excluded or not.
   */
  public synchronized boolean reconfigure(NodeConfig config, DeviceSelection excluded) {
    if (config.equals(this.config) && excluded.equals(this.excluded)) {
      return false;
    }
    this.config = config;
    this.excluded = excluded;
    snapshot = take();
    return true;
  }

  /** Whether this is a card of the node, or a MIG slice of one. */
  public boolean has(GpuUuid device) {
    return gpus.stream()
        .anyMatch(
            g ->
                g.uuid().equals(device)
                    || g.migDevices().stream().anyMatch(m -> m.uuid().equals(device)));
  }

  /** Marks a card or MIG slice unhealthy; false when it was already, or is none of ours. */
  public synchronized boolean markUnhealthy(GpuUuid device, String cause) {
    if (!has(device) || causes.putIfAbsent(device, cause) != null) {
      return false;
    }
    snapshot = take();
    return true;
  }

  /** Takes a mark back; false when there was none. */
  public synchronized boolean markHealthy(GpuUuid device) {
    if (causes.remove(device) == null) {
      return false;
    }
    snapshot = take();
    return true;
  }

  private Snapshot take() {
    List<Card> cards =
        gpus.stream()
            .map(
                g -> {
                  String cause =
                      causes.getOrDefault(
                          g.uuid(), excluded.names(g) ? "excluded by configuration" : "");
                  return new Card(g, cause.isEmpty(), cause, sickSlices(g));
                })
            .toList();
    List<GpuDevice> devices = cards.stream().map(this::publish).toList();
    return new Snapshot(cards, new NodeInventory(devices, config, topology));
  }

  private Set<GpuUuid> sickSlices(PhysicalGpu gpu) {
    return gpu.migDevices().stream()
        .map(MigDevice::uuid)
        .filter(causes::containsKey)
        .collect(Collectors.toUnmodifiableSet());
  }

  /**
   * node-agent.md 1.6: promised compute and memory are the card's times the scalings, truncated.
   */
  private GpuDevice publish(Card card) {
    PhysicalGpu g = card.gpu();
    return new GpuDevice(
        g.index(),
        g.name(),
        g.uuid(),
        (int) (config.coresScaling() * 100),
        (long) (config.memoryScaling() * (g.memoryBytes() >> 20)),
        config.deviceSplit(),
        g.numa(),
        g.mig(),
        g.busId(),
        g.capability(),
        card.healthy(),
        excluded.names(g) ? GpuDevice.Withheld.EXCLUDED : GpuDevice.Withheld.NO);
  }
}
