package io.vgpu.agent;

import static org.assertj.core.api.Assertions.assertThat;

import io.vgpu.agent.deviceplugin.ResponseFilter;
import io.vgpu.agent.kube.FakeApiServer;
import io.vgpu.agent.kube.FakeApiServer.Write;
import io.vgpu.agent.notes.Tenure;
import io.vgpu.claim.Names;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code vgpu-agent uninstall} on a folder and against an API server of the test's. */
class UninstallTest {
  private static final Names NAMES = Names.DEFAULT;
  private static final String NODE = "/api/v1/nodes/n1";
  private static final String PODS = "/api/v1/pods";

  @TempDir Path root;
  private FakeApiServer api;

  private record Result(int status, String out, String err) {}

  @BeforeEach
  void node() throws IOException {
    api = new FakeApiServer();
    api.client(root).close(); // for its kubeconfig
    api.answers.put(
        NODE,
        """
        {"apiVersion":"v1","kind":"Node","metadata":{"name":"n1",
          "annotations":{"%s":"{}","%s":"[]","%s":"{}","other":"stays"},
          "labels":{"%s":"550","kubernetes.io/hostname":"n1"}}}"""
            .formatted(
                NAMES.nodeConfigInfo(),
                NAMES.nodeDeviceRegister(),
                NAMES.deviceCordon(),
                Names.DRIVER_VERSION_LABEL));
    pods("Succeeded");
    Files.createDirectories(root.resolve("M/checkpoints"));
    Files.writeString(root.resolve("M/ld.so.preload"), "x");
    Files.createDirectories(root.resolve("T"));
    Files.createDirectories(root.resolve("plugins"));
    Files.createDirectories(root.resolve("cdi"));
    Files.writeString(root.resolve("cdi/k8s.device-plugin.nvidia.com-gpu.json"), "{}");
    Files.writeString(root.resolve("cdi/other.json"), "{}");
  }

  @AfterEach
  void end() {
    api.close();
  }

  private void pods(String phase) {
    api.answers.put(
        PODS,
        """
        {"apiVersion":"v1","kind":"PodList","metadata":{},"items":[
          {"metadata":{"namespace":"ml","name":"train"},"status":{"phase":"%s"},
           "spec":{"containers":[{"name":"main","resources":{"limits":{"%s":"1"}}}]}},
          {"metadata":{"namespace":"ml","name":"plain"},"status":{"phase":"Running"},
           "spec":{"containers":[{"name":"main"}]}}]}"""
            .formatted(phase, NAMES.vgpuNumber()));
  }

  private Result uninstall(String... more) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    ByteArrayOutputStream err = new ByteArrayOutputStream();
    PrintStream oldOut = System.out;
    PrintStream oldErr = System.err;
    System.setOut(new PrintStream(out, true, StandardCharsets.UTF_8));
    System.setErr(new PrintStream(err, true, StandardCharsets.UTF_8));
    try {
      String[] args = {
        "uninstall",
        "--node-name=n1",
        "--kubeconfig=" + root.resolve("kubeconfig"),
        "--manager-dir=" + root.resolve("M"),
        "--usage-dir=" + root.resolve("T"),
        "--device-plugin-path=" + root.resolve("plugins"),
        "--cdi-root=" + root.resolve("cdi")
      };
      String[] all = Stream.of(args, more).flatMap(Arrays::stream).toArray(String[]::new);
      int status = AgentMain.run(ResponseFilter.IDENTITY, all);
      return new Result(
          status, out.toString(StandardCharsets.UTF_8), err.toString(StandardCharsets.UTF_8));
    } finally {
      System.setOut(oldOut);
      System.setErr(oldErr);
    }
  }

  private static void bind(Path socket) throws IOException {
    try (ServerSocketChannel dead = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
      dead.bind(UnixDomainSocketAddress.of(socket));
    }
  }

  @Test
  void everythingOfOursLeavesTheNodeAndNothingElse() throws Exception {
    bind(root.resolve("plugins/nvidia-vgpu.sock"));
    bind(root.resolve("plugins/kubelet.sock"));
    try (ServerSocketChannel alive = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
      alive.bind(UnixDomainSocketAddress.of(root.resolve("plugins/nvidia-mig-1g.sock")));
      Result result = uninstall();
      assertThat(result.status()).as(result.err()).isZero();
    }
    Write patch = api.next(NODE);
    assertThat(patch.method()).isEqualTo("PATCH");
    assertThat(patch.body())
        .isEqualTo(
            "{\"metadata\":{\"annotations\":{\"%s\":null,\"%s\":null,\"%s\":null},\"labels\":{\"%s\":null}}}"
                .formatted(
                    NAMES.nodeConfigInfo(),
                    NAMES.nodeDeviceRegister(),
                    NAMES.deviceCordon(),
                    Names.DRIVER_VERSION_LABEL));
    assertThat(api.unread()).as("no resource of ours is in its status").isZero();
    assertThat(root.resolve("M")).doesNotExist();
    assertThat(root.resolve("T")).doesNotExist();
    assertThat(root.resolve("plugins/nvidia-vgpu.sock")).doesNotExist();
    assertThat(root.resolve("plugins/kubelet.sock")).exists();
    assertThat(root.resolve("plugins/nvidia-mig-1g.sock")).as("somebody serves").exists();
    assertThat(root.resolve("cdi/k8s.device-plugin.nvidia.com-gpu.json")).doesNotExist();
    assertThat(root.resolve("cdi/other.json")).exists();
  }

  @Test
  void podsThatHoldVgpusAreNamedAndOnlyForceGoesOn() throws Exception {
    pods("Running");
    Result refused = uninstall();
    assertThat(refused.status()).isEqualTo(2);
    assertThat(refused.err()).contains("ml/train").doesNotContain("ml/plain").contains("--force");
    assertThat(root.resolve("M/ld.so.preload")).exists();
    assertThat(api.unread()).isZero();
    assertThat(uninstall("--force").status()).isZero();
    assertThat(root.resolve("M")).doesNotExist();
  }

  @Test
  void anAgentThatServesIsLeftAlone() throws Exception {
    try (Tenure serving = new Tenure(root.resolve("M/checkpoints/tenure"))) {
      assertThat(serving.await(() -> {})).isPresent();
      Result refused = uninstall();
      assertThat(refused.status()).isEqualTo(2);
      assertThat(refused.err()).contains("an agent serves this node");
    }
    assertThat(root.resolve("M/ld.so.preload")).exists();
    assertThat(api.unread()).isZero();
  }

  @Test
  void withoutTheApiServerNothingIsRemoved() {
    api.close();
    Result refused = uninstall();
    assertThat(refused.status()).isEqualTo(2);
    assertThat(refused.err()).contains("API server");
    assertThat(root.resolve("M/ld.so.preload")).exists();
  }
}
