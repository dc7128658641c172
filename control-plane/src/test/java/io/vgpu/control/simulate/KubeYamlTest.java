package io.vgpu.control.simulate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.vgpu.claim.InventoryCodec;
import io.vgpu.claim.Names;
import io.vgpu.control.cluster.Host;
import io.vgpu.control.testing.Nodes;
import io.vgpu.model.NodeConfig;
import io.vgpu.runtime.UsageException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A cluster of one's own, as kubectl prints it. */
class KubeYamlTest {
  private static final String PODS =
      """
      apiVersion: v1
      items:
      - apiVersion: v1
        kind: Pod
        metadata:
          name: half
          namespace: team
          annotations:
            nvidia.com/include-gpu-type: A10
        spec:
          containers:
          - name: main
            resources:
              limits: {cpu: "2", memory: 4Gi, nvidia.com/vgpu-number: "1", nvidia.com/vgpu-cores: "50"}
      - apiVersion: v1
        kind: Pod
        metadata:
          name: agent
          namespace: kube-system
          ownerReferences:
          - {apiVersion: apps/v1, kind: DaemonSet, name: agent}
        spec:
          containers:
          - name: main
      - apiVersion: v1
        kind: Pod
        metadata: {name: web, namespace: team}
        spec:
          containers:
          - name: main
            resources:
              requests: {cpu: 1500m, memory: 1Gi}
      kind: List
      """;

  @TempDir private Path folder = Path.of("");

  private static String nodes() {
    return """
        apiVersion: v1
        kind: List
        items:
        - apiVersion: v1
          kind: Node
          metadata:
            name: gpu-1
            annotations:
              nvidia.com/node-device-register: '%s'
              nvidia.com/node-config-info: '%s'
          status:
            allocatable: {cpu: "16", memory: 64Gi, nvidia.com/vgpu-number: "20"}
        - apiVersion: v1
          kind: Node
          metadata: {name: plain}
          status:
            allocatable: {cpu: "8", memory: 32Gi}
        """
        .formatted(
            InventoryCodec.encodeRegister(Nodes.alike(2, 24_000)),
            InventoryCodec.encodeConfig(NodeConfig.DEFAULT));
  }

  private SimCluster read(String nodes, String pods) throws IOException {
    Path nodeFile = Files.writeString(folder.resolve("nodes.yaml"), nodes);
    Path podFile = Files.writeString(folder.resolve("pods.yaml"), pods);
    return SimFiles.read(nodeFile, podFile, Names.DEFAULT);
  }

  @Test
  void nodesAndPodsAreWhatTheSchedulerWouldSee() throws IOException {
    SimCluster cluster = read(nodes(), PODS);
    assertThat(cluster.nodes()).extracting(n -> n.cards().size()).containsExactly(2, 0);
    assertThat(cluster.nodes().getFirst().hostTotal()).isEqualTo(new Host(16_000, 65_536));
    assertThat(cluster.pods())
        .extracting(p -> p.request().pod().name())
        .containsExactly("half", "web");
    SimPod half = cluster.pods().getFirst();
    assertThat(half.share()).isEqualTo(500);
    assertThat(half.request().host()).isEqualTo(new Host(2000, 4096));
    assertThat(half.request().wishes().types().accepts("NVIDIA A10")).isTrue();
    assertThat(half.request().wishes().types().accepts("T4")).isFalse();
    assertThat(cluster.pods().getLast().request().host()).isEqualTo(new Host(1500, 1024));
  }

  @Test
  void aReplayOfItPlacesBoth() throws IOException {
    Simulation simulation = new Simulation(read(nodes(), PODS), 1);
    List<Point> points = simulation.run("foresight", 1, done -> {});
    assertThat(points.getLast().allocated()).isEqualTo(25);
  }

  @Test
  void aWrongFieldIsNamedWithItsLine() {
    assertThatThrownBy(() -> read(nodes(), PODS.replace("cpu: 1500m", "cpu: lots")))
        .isInstanceOf(UsageException.class)
        .hasMessageEndingWith(
            "pods.yaml:32: spec.containers[0].resources.requests.cpu \"lots\": must be a quantity");
    assertThatThrownBy(
            () ->
                read(nodes(), PODS.replace("kind: Pod\n  metadata: {", "kind: Job\n  metadata: {")))
        .hasMessageEndingWith("pods.yaml:26: kind \"Job\": must be Pod");
    assertThatThrownBy(() -> read(nodes().replace("\"healthy\":true", "\"healthy\":7"), PODS))
        .hasMessageContaining(
            "nodes.yaml:9: metadata.annotations: node gpu-1: node vGPU registry invalid");
    assertThatThrownBy(() -> read(nodes(), "items: ["))
        .hasMessageContaining("pods.yaml:1: is not YAML");
  }

  @Test
  void aClusterWithoutCardsHasNothingToPack() {
    assertThatThrownBy(() -> read(nodes().replace("\"20\"", "\"0\""), PODS))
        .hasMessageContaining("no node has a usable card");
  }
}
