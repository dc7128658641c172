package io.vgpu.agent;

import io.fabric8.kubernetes.client.KubernetesClientException;
import io.micrometer.core.instrument.MeterRegistry;
import io.vertx.core.Future;
import io.vgpu.agent.config.AgentConfig;
import io.vgpu.agent.config.AgentGate;
import io.vgpu.agent.deviceplugin.DevicePlugin;
import io.vgpu.agent.deviceplugin.DevicePluginConfig;
import io.vgpu.agent.deviceplugin.Injection;
import io.vgpu.agent.deviceplugin.PlainPlugins;
import io.vgpu.agent.deviceplugin.ResponseFilter;
import io.vgpu.agent.gpu.GpuInventory;
import io.vgpu.agent.kube.KubeletPods;
import io.vgpu.agent.kube.KubeletPodsClient;
import io.vgpu.agent.kube.NodePods;
import io.vgpu.agent.kube.NodeSelf;
import io.vgpu.agent.kube.PodWriter;
import io.vgpu.agent.kube.WatchedNodePods;
import io.vgpu.agent.shim.Libraries;
import io.vgpu.agent.shim.Partitions;
import io.vgpu.agent.shim.ShimFolders;
import io.vgpu.agent.shim.ShimWriter;
import io.vgpu.claim.ClaimReader;
import io.vgpu.claim.ClaimSeal;
import io.vgpu.event.wire.EventBusPort;
import io.vgpu.kube.ClaimKeys;
import io.vgpu.kube.KubeClient;
import io.vgpu.kube.KubeEvents;
import io.vgpu.kube.TokenBucket;
import io.vgpu.runtime.Lane;
import io.vgpu.runtime.UsageException;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The device plugin and those it works with, wired: a part of {@link Agent} that is long enough.
 */
final class PluginWiring {
  private static final Logger log = LoggerFactory.getLogger(PluginWiring.class);
  private static final Duration KUBELET_TIMEOUT = Duration.ofSeconds(2);
  private static final int EVENTS_PER_SECOND = 10;
  private static final int EVENTS_BURST = 100;

  private final Supplier<ClaimSeal> seal;
  private final WatchedNodePods nodePods;
  private final KubeletPods kubeletPods;
  private final PodWriter writer;
  private final KubeEvents events;
  private final DevicePlugin plugin;
  private final PlainPlugins plain;

  /** Builds; nothing runs before {@link #start}. */
  PluginWiring(
      AgentConfig config,
      KubeClient kube,
      GpuInventory inventory,
      ShimWriter shim,
      Partitions partitions,
      ShimFolders.Installed installed,
      Injection injection,
      Lane files,
      EventBusPort bus,
      ResponseFilter filter,
      Runnable registered,
      MeterRegistry meters,
      Clock clock) {
    ClaimKeys keys =
        new ClaimKeys(
            config
                .shim()
                .claimKeyFile()
                .orElseThrow(
                    () ->
                        new UsageException(
                            "--claim-key-file: must name the file with the keys that seal claims")));
    seal =
        () -> {
          keys.refresh(); // reads it only when it was replaced
          return keys.get();
        };
    Optional<NodeSelf> self = self(kube, config);
    nodePods = new WatchedNodePods(kube.get(), config.nodeName(), config.names(), System::nanoTime);
    kubeletPods = kubeletPods(kube, config, self);
    writer =
        new PodWriter(
            kube.get(),
            pod -> nodePods.live(pod.uid()).isPresent(),
            new TokenBucket(config.api().qps(), config.api().burst(), System::nanoTime));
    events =
        new KubeEvents(
            kube.get(),
            "vgpu-agent",
            new TokenBucket(EVENTS_PER_SECOND, EVENTS_BURST, System::nanoTime),
            clock,
            meters);
    String policy = self.map(NodeSelf::computePolicy).orElse("");
    plugin =
        new DevicePlugin(
            pluginConfig(config, installed),
            new DevicePlugin.Collaborators(
                config.names(),
                inventory,
                shim,
                new Libraries(
                    config.shim().paths().managerDir(),
                    config.shim().library(),
                    String.valueOf(installed.hostLibrary().getFileName())),
                partitions,
                injection,
                seal,
                () -> policy,
                nodePods,
                kubeletPods,
                writer,
                events,
                bus,
                filter,
                registered,
                files,
                meters,
                clock,
                System::nanoTime));
    plain =
        new PlainPlugins(
            new PlainPlugins.Wanted(
                config.gates().on(AgentGate.GPU_CORE_RESOURCE_PLUGIN),
                config.gates().on(AgentGate.GPU_MEMORY_RESOURCE_PLUGIN),
                config.cards().mig().servesSlices()),
            config.names(),
            config.kubelet().devicePluginDir(),
            inventory,
            injection,
            bus,
            System::nanoTime,
            meters);
  }

  /** Resources that the kubelet may still know from before, and that nobody here serves. */
  static List<String> unserved(AgentConfig config) {
    List<String> unserved = new ArrayList<>();
    if (!config.gates().on(AgentGate.GPU_CORE_RESOURCE_PLUGIN)) {
      unserved.add(config.names().vgpuCores());
    }
    if (!config.gates().on(AgentGate.GPU_MEMORY_RESOURCE_PLUGIN)) {
      unserved.add(config.names().vgpuMemory());
    }
    return List.copyOf(unserved);
  }

  private static Optional<NodeSelf> self(KubeClient kube, AgentConfig config) {
    try {
      return NodeSelf.read(kube.get(), config.nodeName(), config.names());
    } catch (KubernetesClientException e) {
      // pods that run must not wait for the API server: the kubelet's port is then not known
      log.warn("own node not read [node: {}, cause: {}]", config.nodeName(), e.getMessage());
      return Optional.empty();
    }
  }

  private static KubeletPods kubeletPods(
      KubeClient kube, AgentConfig config, Optional<NodeSelf> self) {
    Optional<String> endpoint =
        config
            .kubelet()
            .endpoint()
            .or(() -> self.filter(s -> !s.address().isEmpty()).map(s -> s.urlHost() + ":10250"));
    if (endpoint.isEmpty()) {
      log.warn("the kubelet's port is not known: pods are told apart by the API's view");
      return KubeletPods.none();
    }
    return new KubeletPodsClient(
        kube.towards(
            "https://" + endpoint.get(), config.kubelet().caFile().orElse(null), KUBELET_TIMEOUT),
        config.names());
  }

  private static DevicePluginConfig pluginConfig(
      AgentConfig config, ShimFolders.Installed installed) {
    return new DevicePluginConfig(
        config.nodeName(),
        config.kubelet().devicePluginDir(),
        DevicePluginConfig.ENDPOINT,
        config.kubelet().podResourcesSocket(),
        config.shim().paths().managerDir(),
        installed.hostLibrary(),
        installed.hostPreload(),
        config.gates().on(AgentGate.DEVICE_PLUGIN_CLIENT_MODE)
            ? Optional.of(config.shim().paths().hostRegistry())
            : Optional.empty(),
        config.cards().mig().sharesCards(),
        config.kubelet().numaHints(),
        config.gates().on(AgentGate.HONOR_PRE_ALLOCATED_DEVICE_IDS),
        config.gates().on(AgentGate.ALLOCATION_FAILURE_RESCHEDULE),
        DevicePluginConfig.CALL_LIMIT,
        DevicePluginConfig.START_LIMIT);
  }

  /** Notes and files in order first, then registration; {@code ours} runs when it is our turn. */
  Future<?> start(Runnable ours) {
    nodePods.start(pod -> plugin.podGone());
    // first: a pod that asks for slots may ask for these too
    return plugin.start(
        () -> {
          plain.start();
          ours.run();
        });
  }

  /** Ends serving, then what served it. */
  Future<?> stop() {
    return plugin
        .stop(plain::stop)
        .andThen(
            done -> {
              nodePods.close();
              writer.close();
              events.close();
              if (kubeletPods instanceof KubeletPodsClient client) {
                client.close();
              }
            });
  }

  /** Where events of pods and of the node are written; closed by {@link #stop}. */
  KubeEvents events() {
    return events;
  }

  /** The container of a pod that has this id of the runtime's, if its status is known. */
  Optional<String> containerName(String podUid, String containerId) {
    return nodePods.live(podUid).flatMap(pod -> pod.containerOf(containerId));
  }

  /** The pods of this node, watched since {@link #start}. */
  NodePods nodePods() {
    return nodePods;
  }

  /** Reads what our scheduler sealed, with the keys as they are now. */
  ClaimReader claims() {
    return new ClaimReader(seal);
  }

  /** What is still waited for. */
  List<String> missing() {
    List<String> missing = new ArrayList<>(plugin.missing());
    if (!plugin.standsBy()) {
      missing.addAll(plain.missing());
    }
    return missing;
  }
}
