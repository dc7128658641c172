package io.vgpu.agent;

import io.vgpu.agent.config.AgentConfig;
import io.vgpu.agent.config.AgentGate;
import io.vgpu.agent.config.CgroupDriver;
import io.vgpu.agent.config.MpsDevices;
import io.vgpu.agent.config.NodeFile;
import io.vgpu.agent.config.NodeFileEntry;
import io.vgpu.agent.config.Unsupported;
import io.vgpu.agent.gpu.DeviceSelection;
import io.vgpu.agent.gpu.MigStrategy;
import io.vgpu.agent.gpu.XidRules;
import io.vgpu.agent.health.HealthRules;
import io.vgpu.agent.inject.ExtraMode;
import io.vgpu.agent.inject.ListStrategy;
import io.vgpu.agent.shim.ShimPaths;
import io.vgpu.claim.Names;
import io.vgpu.model.NodeConfig;
import io.vgpu.runtime.FeatureGates;
import io.vgpu.runtime.UsageException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * From flags to {@link AgentConfig}: checks, refuses what has no effect in this release, lets the
 * node's entry of the node file replace flags (node-agent.md 3.1). Every refusal is a {@link
 * UsageException} that names flag and rule.
 */
final class ConfigReader {
  private ConfigReader() {}

  static AgentConfig read(CommonFlags common, PluginFlags plugin, MonitorFlags monitor) {
    return read(common, plugin, monitor, entry(common));
  }

  /** What the node file says of this node now. */
  static NodeFileEntry entry(CommonFlags common) {
    return common.nodeConfigPath == null
        ? NodeFileEntry.NONE
        : NodeFile.read(common.nodeConfigPath).entryFor(common.nodeName);
  }

  /** The flags with this entry of the node file. */
  static AgentConfig read(
      CommonFlags common, PluginFlags plugin, MonitorFlags monitor, NodeFileEntry file) {
    FeatureGates<AgentGate> gates = gates(common.featureGates);
    refuse(common, monitor);
    if (common.nodeName.isBlank()) {
      throw new UsageException("--node-name (or NODE_NAME): must not be empty");
    }
    return new AgentConfig(
        common.nodeName,
        new Names(common.domain),
        new AgentConfig.Api(
            Optional.ofNullable(common.kubeconfig),
            Optional.ofNullable(common.master),
            seconds("--kube-timeout", common.kubeTimeout),
            atLeastOne("--kube-api-qps", common.kubeApiQps),
            atLeastOne("--kube-api-burst", common.kubeApiBurst)),
        cards(common, plugin, file),
        shim(plugin),
        new AgentConfig.Mps(
            file.mpsDevices().orElseGet(() -> MpsDevices.parse(plugin.mpsDevices)),
            plugin.mpsControl),
        new AgentConfig.Kubelet(
            plugin.devicePluginPath,
            plugin.podResourcesSocket,
            Optional.of(plugin.kubeletEndpoint).filter(e -> !e.isBlank()),
            Optional.ofNullable(plugin.kubeletCaFile),
            plugin.numaHints),
        injected(plugin, file),
        ops(common, monitor),
        gates);
  }

  private static FeatureGates<AgentGate> gates(String text) {
    FeatureGates<AgentGate> gates = FeatureGates.parse(AgentGate.class, text);
    for (AgentGate gate : AgentGate.values()) {
      if (gates.on(gate) && !gate.supported()) {
        throw new UsageException(
            "--feature-gates: " + gate.gateName() + "=true is not supported in this release");
      }
    }
    return gates;
  }

  private static void refuse(CommonFlags c, MonitorFlags m) {
    if (!c.cgroupDriver.isEmpty() && !CgroupDriver.isOne(c.cgroupDriver)) {
      throw new UsageException("--cgroup-driver: \"" + c.cgroupDriver + "\" " + CgroupDriver.RULE);
    }
    Unsupported.check("--pprof-bind-port", c.pprofBindPort, 0);
    Unsupported.check("--enable-dra-monitor", m.enableDraMonitor, false);
  }

  private static AgentConfig.Ops ops(CommonFlags common, MonitorFlags m) {
    if (m.stuckGracePeriod.compareTo(Duration.ofSeconds(1)) < 0) {
      throw new UsageException(
          "--stuck-grace-period: " + m.stuckGracePeriod + " must be at least 1s");
    }
    if (!m.enableTls && (m.tlsCertFile != null || m.tlsKeyFile != null)) {
      throw new UsageException("--tls-cert-file, --tls-key-file: only with --enable-tls");
    }
    Optional<AgentConfig.Tls> tls = Optional.empty();
    if (m.enableTls) {
      if (m.tlsCertFile == null || m.tlsKeyFile == null) {
        throw new UsageException("--enable-tls: wants --tls-cert-file and --tls-key-file");
      }
      tls = Optional.of(new AgentConfig.Tls(m.tlsCertFile, m.tlsKeyFile, m.certRefreshInterval));
    }
    return new AgentConfig.Ops(
        common.opsBindAddress, common.opsBindPort, m.minScrapeInterval, m.enableRbac, tls);
  }

  private static MigStrategy mig(String word) {
    return MigStrategy.of(word)
        .orElseThrow(
            () ->
                new UsageException(
                    "--mig-strategy: \"" + word + "\" must be none, single or mixed"));
  }

  private static AgentConfig.Cards cards(CommonFlags c, PluginFlags p, NodeFileEntry file) {
    int factor = atLeastOne("--device-memory-factor", p.deviceMemoryFactor);
    int split = atLeastOne("--device-split-count", p.deviceSplitCount);
    aboveZero("--device-cores-scaling", p.deviceCoresScaling);
    aboveZero("--device-memory-scaling", p.deviceMemoryScaling);
    return new AgentConfig.Cards(
        c.containerDriverRoot,
        p.hostDriverRoot,
        c.sysfsRoot,
        new NodeConfig(
            file.deviceSplitCount().orElse(split),
            file.deviceCoresScaling().orElse(p.deviceCoresScaling),
            file.deviceMemoryFactor().orElse(factor),
            file.deviceMemoryScaling().orElse(p.deviceMemoryScaling)),
        file.excludeDevices().orElseGet(() -> DeviceSelection.parse(p.excludeDevices)),
        mig(file.migStrategy().orElse(p.migStrategy)),
        XidRules.parse(c.disableHealthChecks, c.enableHealthChecks),
        new HealthRules(c.healthGrace, c.healthQuiet, c.healthProbe),
        c.cardSampleInterval);
  }

  private static int atLeastOne(String flag, int value) {
    if (value < 1) {
      throw new UsageException(flag + ": \"" + value + "\" must be at least 1");
    }
    return value;
  }

  private static void aboveZero(String flag, double value) {
    if (!(value > 0 && value <= NodeConfig.MAX_SCALING)) {
      throw new UsageException(
          flag + ": \"" + value + "\" must be above 0, at most " + (int) NodeConfig.MAX_SCALING);
    }
  }

  private static AgentConfig.Shim shim(PluginFlags p) {
    return new AgentConfig.Shim(
        new ShimPaths(
            p.managerDir, p.hostManagerDir == null ? p.managerDir : p.hostManagerDir, p.usageDir),
        p.shimLibrary,
        Optional.ofNullable(p.claimKeyFile),
        p.procRoot,
        p.contextSampleInterval);
  }

  private static AgentConfig.Injected injected(PluginFlags p, NodeFileEntry file) {
    Set<ExtraMode> extras = EnumSet.noneOf(ExtraMode.class);
    if (file.gdsEnabled().orElse(p.gdsEnabled)) {
      extras.add(ExtraMode.GDS);
    }
    if (file.mofedEnabled().orElse(p.mofedEnabled)) {
      extras.add(ExtraMode.MOFED);
    }
    if (file.gdrcopyEnabled().orElse(p.gdrcopyEnabled)) {
      extras.add(ExtraMode.GDRCOPY);
    }
    return new AgentConfig.Injected(
        strategies(file.deviceListStrategy().orElse(p.deviceListStrategy)),
        p.cdiRoot,
        p.cdiAnnotationPrefix,
        extras,
        file.imex()
            .orElseGet(() -> new AgentConfig.Imex(channels(p.imexChannelIds), p.imexRequired)));
  }

  private static Set<ListStrategy> strategies(List<String> names) {
    Set<ListStrategy> strategies = EnumSet.noneOf(ListStrategy.class);
    for (String name : names) {
      strategies.add(
          ListStrategy.of(name.strip())
              .orElseThrow(
                  () ->
                      new UsageException(
                          "--device-list-strategy: \""
                              + name
                              + "\" must be envvar, volume-mounts, cdi-annotations or cdi-cri")));
    }
    return strategies;
  }

  private static List<Integer> channels(String list) {
    List<Integer> ids = new ArrayList<>();
    for (String item : list.split(",", -1)) {
      if (!item.isBlank()) {
        try {
          ids.add(Integer.parseInt(item.strip()));
        } catch (NumberFormatException e) {
          throw new UsageException("--imex-channel-ids: \"" + list + "\" must be empty or 0");
        }
      }
    }
    return ids;
  }

  private static Duration seconds(String flag, int value) {
    if (value < 0) {
      throw new UsageException(flag + ": \"" + value + "\" must be 0 or more seconds");
    }
    return Duration.ofSeconds(value);
  }
}
