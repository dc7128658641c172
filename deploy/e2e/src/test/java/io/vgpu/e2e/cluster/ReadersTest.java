package io.vgpu.e2e.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.client.Config;
import io.vgpu.runtime.Cli;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What other programs write is read as they mean it, and what we write is read back by others. */
class ReadersTest {
  @Test
  void auditLogCountsAWatchOnceAndLeavesAnUnfinishedLineOut() {
    String text =
        """
        {"auditID":"a","stage":"ResponseComplete","stageTimestamp":"2026-01-02T03:04:05.678901Z","verb":"create","user":{"username":"u1"},"requestURI":"/x","objectRef":{"resource":"pods","subresource":"binding","namespace":"n","name":"p"},"responseStatus":{"code":201}}
        {"auditID":"b","stage":"ResponseStarted","verb":"watch","user":{"username":"u2"},"requestURI":"/y","objectRef":{"resource":"pods"},"responseStatus":{"code":200}}
        {"auditID":"b","stage":"ResponseComplete","verb":"watch","user":{"username":"u2"},"requestURI":"/y","objectRef":{"resource":"pods"},"responseStatus":{"code":200}}
        {"auditID":"c","sta\
        """;
    List<AuditLog.Request> requests = AuditLog.parse(text);
    assertThat(requests).extracting(AuditLog.Request::id).containsExactly("a", "b");
    assertThat(requests.getFirst())
        .isEqualTo(
            new AuditLog.Request(
                "a",
                "u1",
                "create",
                "",
                "pods",
                "binding",
                "n",
                "p",
                "/x",
                201,
                Instant.parse("2026-01-02T03:04:05.678901Z")));
  }

  @Test
  void kernelSettingsAreReadWhole() {
    KernelSettings.current()
        .forEach(
            (key, value) ->
                assertThat(value).isEqualTo(Commands.must("cat", "/proc/sys/" + key)).isNotEmpty());
    assertThat(KernelSettings.current()).containsKey("kernel/keys/root_maxbytes");
  }

  @Test
  void lddNamesLibrariesAndTheLoader() {
    String output =
        """
        /usr/bin/busybox:
        \tnot a dynamic executable
        /usr/bin/bash:
        \tlinux-vdso.so.1 (0x00007ffd)
        \tlibc.so.6 => /lib/x86_64-linux-gnu/libc.so.6 (0x00007f)
        \t/lib64/ld-linux-x86-64.so.2 (0x00007f)
        """;
    assertThat(Images.parseLdd(output))
        .containsExactly("/lib/x86_64-linux-gnu/libc.so.6", "/lib64/ld-linux-x86-64.so.2");
  }

  @Test
  void kubeconfigIsReadBackByAClient(@TempDir Path folder) throws IOException {
    Path ca = Files.writeString(folder.resolve("ca.crt"), "authority");
    Path file = folder.resolve("sub/x.kubeconfig");
    new Kubeconfigs("https://10.77.0.1:6443", ca).writeForToken(file, "secret");
    Config config = Config.fromKubeconfig(file.toFile());
    assertThat(config.getMasterUrl()).startsWith("https://10.77.0.1:6443");
    assertThat(config.getAutoOAuthToken()).isEqualTo("secret");
    assertThat(Files.getPosixFilePermissions(file)).hasSize(2);
  }

  @Test
  void cleaningANodeKeepsWhatIsKubernetesOwn() {
    Node node =
        new NodeBuilder()
            .withNewMetadata()
            .addToLabels("kubernetes.io/hostname", "n")
            .addToLabels("nvidia.com/x", "1")
            .addToAnnotations("node.alpha.kubernetes.io/ttl", "0")
            .addToAnnotations("nvidia.com/y", "1")
            .endMetadata()
            .withNewSpec()
            .withUnschedulable(true)
            .addNewTaint("NoSchedule", "node.kubernetes.io/not-ready", null, null)
            .addNewTaint("NoSchedule", "ours", null, null)
            .endSpec()
            .build();
    Node cleaned = CleanState.cleaned(node, CleanState::isKubernetesOwn);
    assertThat(cleaned.getMetadata().getLabels()).containsOnlyKeys("kubernetes.io/hostname");
    assertThat(cleaned.getMetadata().getAnnotations())
        .containsOnlyKeys("node.alpha.kubernetes.io/ttl");
    assertThat(cleaned.getSpec().getUnschedulable()).isNull();
    assertThat(cleaned.getSpec().getTaints())
        .singleElement()
        .satisfies(taint -> assertThat(taint.getKey()).startsWith("node.kubernetes.io/"));
  }

  @Test
  void unknownFlagEndsTheCommandWithStatusTwo() {
    assertThat(Cli.run(new ClusterMain(), "start", "--node-nam=x")).isEqualTo(Cli.USAGE);
  }
}
