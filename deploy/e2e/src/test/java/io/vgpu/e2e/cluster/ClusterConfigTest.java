package io.vgpu.e2e.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Bad configuration is refused by name before anything is touched. */
class ClusterConfigTest {
  private final ClusterConfig config = ClusterConfig.defaults(Path.of("/opt/bin"));

  @Test
  void everySocketFitsAtTheLimitAndOneMoreCharacterIsRefused() {
    int fixed = new ClusterPaths(Path.of("/")).longestSocketPath() - 1;
    int room = ClusterConfig.SOCKET_PATH_MAX - fixed - 1;
    Path fits = Path.of("/" + "r".repeat(room - 1));
    assertThat(config.withRunDir(fits).paths().longestSocketPath())
        .isEqualTo(ClusterConfig.SOCKET_PATH_MAX);
    assertThatThrownBy(() -> config.withRunDir(Path.of("/" + "r".repeat(room))))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("run folder")
        .hasMessageContaining("too long by 1 characters");
  }

  @Test
  void refusesNamesThatTheirUsersWouldRefuse() {
    assertThatThrownBy(() -> config.withNodeName("Gpu_0"))
        .hasMessageContaining("node name 'Gpu_0'");
    assertThatThrownBy(() -> config.withNetns("far-too-long-name"))
        .hasMessageContaining("network namespace");
    assertThatThrownBy(() -> config.withRunDir(Path.of("/a'b")))
        .hasMessageContaining("run folder '/a'b'");
    assertThatThrownBy(() -> config.withExtenderWeight(0))
        .hasMessageContaining("extender weight 0");
  }

  @Test
  void markerTellsWhoseClusterRuns(@TempDir Path folder) {
    ProcessId me = ProcessId.of(ProcessHandle.current().pid()).orElseThrow();
    Path file = folder.resolve("marker");
    MachineMarker owned = new MachineMarker(folder, "vgpu", Optional.of(me));
    owned.write(file);
    assertThat(MachineMarker.read(file)).contains(owned);
    MachineMarker detached = new MachineMarker(folder, "vgpu", Optional.empty());
    detached.write(file);
    assertThat(MachineMarker.read(file)).contains(detached);
    assertThat(MachineMarker.read(folder.resolve("none"))).isEmpty();
  }

  @Test
  void clusterOfADeadOwnerOrWithoutProcessesIsAbandoned(@TempDir Path folder) throws Exception {
    ProcessId me = ProcessId.of(ProcessHandle.current().pid()).orElseThrow();
    ProcessId dead = new ProcessId(me.pid(), me.startTicks() + 1, me.bootId());
    MachineMarker detached = new MachineMarker(folder, "vgpu", Optional.empty());
    assertThat(detached.isAbandoned()).isTrue();
    Path pid = new ClusterPaths(folder).pidFile("etcd");
    java.nio.file.Files.createDirectories(pid.getParent());
    java.nio.file.Files.writeString(pid, me.toString());
    assertThat(detached.isAbandoned()).isFalse();
    assertThat(new MachineMarker(folder, "vgpu", Optional.of(me)).isAbandoned()).isFalse();
    assertThat(new MachineMarker(folder, "vgpu", Optional.of(dead)).isAbandoned()).isTrue();
  }
}
