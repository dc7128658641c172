package io.vgpu.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.vgpu.agent.config.AgentConfig;
import io.vgpu.agent.config.AgentGate;
import io.vgpu.agent.config.MpsDevices;
import io.vgpu.agent.deviceplugin.ResponseFilter;
import io.vgpu.agent.gpu.MigStrategy;
import io.vgpu.agent.inject.ExtraMode;
import io.vgpu.agent.inject.ListStrategy;
import io.vgpu.model.NodeConfig;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class AgentMainTest {
  private record Ended(int status, String errors) {}

  private static Ended run(String... args) {
    PrintStream before = System.err;
    ByteArrayOutputStream errors = new ByteArrayOutputStream();
    System.setErr(new PrintStream(errors, true, StandardCharsets.UTF_8));
    try {
      return new Ended(
          AgentMain.run(ResponseFilter.IDENTITY, args), errors.toString(StandardCharsets.UTF_8));
    } finally {
      System.setErr(before);
    }
  }

  @ParameterizedTest
  @CsvSource({"device-plugin", "device-monitor", "node"})
  void anUnknownGateEndsTheProcessAndIsNamed(String command) {
    Ended ended = run(command, "--feature-gates=Nope=true");
    assertThat(ended.status()).isEqualTo(2);
    assertThat(ended.errors()).contains("unrecognized feature gate: Nope");
  }

  @Test
  void anUnknownFlagIsAnsweredWithTheNearestKnown() {
    Ended ended = run("device-plugin", "--device-split-cont=3");
    assertThat(ended.status()).isEqualTo(2);
    assertThat(ended.errors())
        .contains("unknown flag: --device-split-cont (nearest known: --device-split-count)");
  }

  @Test
  void noCardIsPartitionedUnlessItIsNamed() {
    CommonFlags common = new CommonFlags();
    common.nodeName = "n1";
    PluginFlags plugin = new PluginFlags();
    assertThat(ConfigReader.read(common, plugin, new MonitorFlags()).mps().devices())
        .isEqualTo(MpsDevices.parse(""));
    plugin.mpsDevices = "0..1";
    assertThat(ConfigReader.read(common, plugin, new MonitorFlags()).mps().devices().named().ids())
        .containsExactlyInAnyOrder("0", "1");
    plugin.mpsControl = Path.of("nvidia-cuda-mps-control");
    assertThatThrownBy(() -> ConfigReader.read(common, plugin, new MonitorFlags()))
        .hasMessageContaining("--mps-control: \"nvidia-cuda-mps-control\" must be absolute");
  }

  @Test
  void aSubCommandIsNeeded() {
    assertThat(run().status()).isEqualTo(2);
    assertThat(run("dra").errors()).contains("unknown argument: dra");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "--imex-channel-ids=1|--imex-channel-ids: \"[1]\" must be empty or 0",
        "--imex-channel-ids=x|--imex-channel-ids: \"x\" must be empty or 0",
        "--cdi-annotation-prefix=cdi.k8s.io|--cdi-annotation-prefix: \"cdi.k8s.io\" must be a DNS name",
        "--cdi-root=cdi|--cdi-root: \"cdi\" must be absolute",
        "--mig-strategy=sinlge|must be none, single or mixed",
        "--device-list-strategy=envvar,cdi|must be envvar, volume-mounts, cdi-annotations or cdi-cri",
        "--device-list-strategy=env|must be envvar, volume-mounts",
        "--pprof-bind-port=6060|--pprof-bind-port",
        "--cgroup-driver=host|--cgroup-driver: \"host\" must be systemd or cgroupfs",
        "--kube-api-qps=0|--kube-api-qps",
        "--device-memory-factor=0|--device-memory-factor: \"0\" must be at least 1",
        "--device-split-count=0|--device-split-count: \"0\" must be at least 1",
        "--device-split-count=x|--device-split-count",
        "--device-memory-scaling=0|--device-memory-scaling: \"0.0\" must be above 0",
        "--device-cores-scaling=1001|--device-cores-scaling: \"1001.0\" must be above 0, at most 1000",
        "--exclude-devices=0-3-5|a range must read a..b or a-b",
        "--card-sample-interval=1ms|--card-sample-interval",
        "--card-sample-interval=200|--card-sample-interval",
        "--ops-bind-port=70000|--ops-bind-port",
        "--domain=_|domain \"_\"",
        "--usage-dir=run|directory \"run\": must be absolute",
        "--feature-gates=SharedSMUtilizationWatcher=true|SharedSMUtilizationWatcher=true is not supported",
        "--node-config-path=/nowhere/f.json|/nowhere/f.json: cannot be read",
        "--kube-timeout=-1|--kube-timeout",
      })
  void aSettingThatCannotBeHadIsRefusedByName(String flag, String message) {
    Ended ended = run("node", "--node-name=n", flag);
    assertThat(ended.errors()).contains(message);
    assertThat(ended.status()).isEqualTo(2);
  }

  @Test
  void aNodeNeedsItsName() {
    assertThat(run("node", "--node-name= ").errors()).contains("--node-name (or NODE_NAME)");
  }

  @Test
  void everyKeyOfTheFileThatBringsSomethingIntoContainersHasItsEffect_13_50(@TempDir Path dir)
      throws IOException {
    CommonFlags common = new CommonFlags();
    common.nodeName = "gpu-1";
    common.nodeConfigPath =
        Files.writeString(
            dir.resolve("f.yaml"),
            """
            configs:
            - nodeName: gpu-1
              deviceListStrategy: [cdi-cri, envvar]
              gdrcopyEnabled: true
              gdsEnabled: false
              migStrategy: single
              imex: {channelIDs: [0]}
            """);
    PluginFlags plugin = new PluginFlags();
    plugin.gdsEnabled = true;
    plugin.mofedEnabled = true;
    plugin.imexRequired = true;

    AgentConfig config = ConfigReader.read(common, plugin, new MonitorFlags());

    assertThat(config.injected().strategies())
        .containsExactlyInAnyOrder(ListStrategy.CDI_CRI, ListStrategy.ENVVAR);
    assertThat(config.injected().extras())
        .containsExactlyInAnyOrder(ExtraMode.GDRCOPY, ExtraMode.MOFED);
    assertThat(config.injected().imex()).isEqualTo(new AgentConfig.Imex(List.of(0), false));
    assertThat(config.cards().mig()).isEqualTo(MigStrategy.SINGLE);
  }

  @Test
  void theNodeFileReplacesFlagsFieldByField(@TempDir Path dir) throws IOException {
    CommonFlags common = new CommonFlags();
    common.nodeName = "gpu-1";
    common.nodeConfigPath =
        Files.writeString(
            dir.resolve("f.yaml"),
            """
            configs:
            - {nodeName: gpu-1, deviceSplitCount: 4, deviceListStrategy: volume-mounts}
            """);
    PluginFlags plugin = new PluginFlags();
    plugin.deviceSplitCount = 20;
    plugin.deviceMemoryScaling = 2;

    AgentConfig config = ConfigReader.read(common, plugin, new MonitorFlags());

    assertThat(config.cards().division()).isEqualTo(new NodeConfig(4, 1, 1, 2));
    assertThat(config.injected().strategies()).containsExactly(ListStrategy.VOLUME_MOUNTS);
    assertThat(config.gates().on(AgentGate.HONOR_PRE_ALLOCATED_DEVICE_IDS)).isTrue();
    assertThat(config.gates().on(AgentGate.TOPOLOGY_AWARE_GPU_ALLOCATION)).isFalse();
    assertThat(config.shim().paths().hostManagerDir()).isEqualTo(Path.of("/etc/vgpu-manager"));
  }
}
