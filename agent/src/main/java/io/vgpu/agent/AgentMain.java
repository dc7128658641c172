package io.vgpu.agent;

import io.vgpu.agent.config.AgentConfig;
import io.vgpu.agent.config.NodeFileEntry;
import io.vgpu.agent.deviceplugin.ResponseFilter;
import io.vgpu.runtime.Cli;
import io.vgpu.runtime.Logging;
import io.vgpu.runtime.Version;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.slf4j.LoggerFactory;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;

/** {@code vgpu-agent}: the node's daemon, one sub-command per deployment (D12). */
public final class AgentMain {
  private AgentMain() {}

  public static void main(String[] args) {
    System.exit(run(ResponseFilter.IDENTITY, args));
  }

  /**
   * Parses and runs; returns the exit status. {@code filter} is the last hand on Allocate's
   * answers: tests of the whole system put a fault there, from a main class of their own.
   */
  public static int run(ResponseFilter filter, String... args) {
    Root root = new Root(filter);
    return Cli.run(root.spec(), args);
  }

  /** The command without a sub-command. */
  @Command(
      name = "vgpu-agent",
      description = "The agent of a GPU node: one sub-command per deployment.",
      mixinStandardHelpOptions = true,
      versionProvider = Version.class)
  static final class Root implements Runnable {
    private final CommandSpec spec;

    Root(ResponseFilter filter) {
      spec = CommandSpec.forAnnotatedObject(this);
      spec.addSubcommand(
          "device-plugin", CommandSpec.forAnnotatedObject(new DevicePluginCommand(filter)));
      spec.addSubcommand(
          "device-monitor", CommandSpec.forAnnotatedObject(new DeviceMonitorCommand(filter)));
      spec.addSubcommand("node", CommandSpec.forAnnotatedObject(new NodeCommand(filter)));
      spec.addSubcommand("uninstall", CommandSpec.forAnnotatedObject(new UninstallCommand()));
    }

    CommandSpec spec() {
      return spec;
    }

    @Override
    public void run() {
      throw new ParameterException(
          spec.commandLine(),
          "a sub-command is needed: " + String.join(", ", spec.subcommands().keySet()));
    }
  }

  @Command(
      name = "device-plugin",
      description =
          "Serves shares of cards and MIG slices to the kubelet and writes containers' limits.",
      mixinStandardHelpOptions = true,
      versionProvider = Version.class,
      showDefaultValues = true)
  static final class DevicePluginCommand implements Callable<Integer> {
    @Mixin private final CommonFlags common = new CommonFlags();
    @Mixin private final PluginFlags plugin = new PluginFlags();
    private final ResponseFilter filter;

    DevicePluginCommand(ResponseFilter filter) {
      this.filter = filter;
    }

    @Override
    public Integer call() {
      return start(common, plugin, new MonitorFlags(), Agent.Role.PLUGIN, filter);
    }
  }

  @Command(
      name = "device-monitor",
      description = "Samples the cards and serves metrics.",
      mixinStandardHelpOptions = true,
      versionProvider = Version.class,
      showDefaultValues = true)
  static final class DeviceMonitorCommand implements Callable<Integer> {
    @Mixin private final CommonFlags common = new CommonFlags();
    @Mixin private final MonitorFlags monitor = new MonitorFlags();
    private final ResponseFilter filter;

    DeviceMonitorCommand(ResponseFilter filter) {
      this.filter = filter;
    }

    @Override
    public Integer call() {
      return start(common, new PluginFlags(), monitor, Agent.Role.MONITOR, filter);
    }
  }

  @Command(
      name = "node",
      description = "device-plugin and device-monitor in one process.",
      mixinStandardHelpOptions = true,
      versionProvider = Version.class,
      showDefaultValues = true)
  static final class NodeCommand implements Callable<Integer> {
    @Mixin private final CommonFlags common = new CommonFlags();
    @Mixin private final PluginFlags plugin = new PluginFlags();
    @Mixin private final MonitorFlags monitor = new MonitorFlags();
    private final ResponseFilter filter;

    NodeCommand(ResponseFilter filter) {
      this.filter = filter;
    }

    @Override
    public Integer call() {
      return start(common, plugin, monitor, Agent.Role.PLUGIN, filter);
    }
  }

  private static int start(
      CommonFlags common,
      PluginFlags plugin,
      MonitorFlags monitor,
      Agent.Role role,
      ResponseFilter filter) {
    Logging.configure(common.verbosity);
    return agent(common, plugin, monitor, role, filter).run();
  }

  /** The agent of these flags; it follows their node file. */
  static Agent agent(
      CommonFlags common,
      PluginFlags plugin,
      MonitorFlags monitor,
      Agent.Role role,
      ResponseFilter filter) {
    NodeFileEntry entry = ConfigReader.entry(common);
    AgentConfig config = ConfigReader.read(common, plugin, monitor, entry);
    LoggerFactory.getLogger(AgentMain.class).info("configuration [{}]", config);
    Optional<ConfigFollower.Source> source =
        Optional.ofNullable(common.nodeConfigPath)
            .map(
                file ->
                    new ConfigFollower.Source(
                        file,
                        config.nodeName(),
                        entry,
                        e -> ConfigReader.read(common, plugin, monitor, e)));
    return new Agent(config, source, role, filter);
  }
}
