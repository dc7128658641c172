package io.vgpu.e2e.product;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodSecurityContextBuilder;
import io.vgpu.e2e.cluster.Await;
import io.vgpu.e2e.cluster.Cluster;
import io.vgpu.e2e.junit.RealCluster;
import io.vgpu.e2e.junit.TestNamespace;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * Gate DevicePluginClientMode on a real kubelet and runtime: processes in containers, as root and
 * as nobody in particular, register; the agent knows them by the host's pids; and the containers
 * see none of those (13-30).
 */
@RealCluster
class RegistrationIT {
  private static final Duration LIMIT = Duration.ofSeconds(90);

  /** Says what of the host can be seen from within, then keeps a card busy until it is deleted. */
  private static final String WORK =
      """
      echo "### registry"; ls -l /etc/vgpu-manager/registry
      touch /etc/vgpu-manager/registry/x 2>&1 | grep -o 'Read-only file system'
      echo "### proc"; grep -c ' - proc ' /proc/self/mountinfo; grep ' - proc ' /proc/self/mountinfo | cut -d' ' -f4,5
      echo "### over"
      export CUDA_SHIM_LOG=3
      exec gpu-work --rounds 1000000 --seconds 3600
      """;

  private static final Pattern INNER_PID = Pattern.compile("NSpid:(?:\\s+\\d+)*\\s+(\\d+)");

  private final Cluster cluster;
  private final String namespace;
  private final Product product;

  RegistrationIT(Cluster cluster, TestNamespace namespace) {
    this.cluster = cluster;
    this.namespace = namespace.name();
    this.product = new Product(cluster, Checkout.find());
  }

  @AfterEach
  void clean() {
    product.stop();
    product.forgetCopies();
    cluster.client().pods().inNamespace(namespace).withGracePeriod(0).delete();
    Await.until(
        "the pods to go",
        LIMIT,
        () -> cluster.client().pods().inNamespace(namespace).list().getItems().isEmpty());
  }

  @Test
  void processesRegisterAndSeeNothingOfTheHost() {
    product.start(
        ProductConfig.DEFAULT.withAgentFlags("--feature-gates=DevicePluginClientMode=true"));
    create("tenant", Optional.of(1000L));
    create("root", Optional.empty());
    for (String pod : List.of("root", "tenant")) {
      assertThat(Await.holdsWithin(LIMIT, () -> log(pod).contains("registered")))
          .as(() -> pod + " never asked for it: " + story(pod))
          .isTrue();
      String said = log(pod);
      // where both cores are busy the agent may be late; it registers who asked all the same
      assertThat(said)
          .containsAnyOf("registered with the agent", "not registered: the agent is late");
      assertThat(said).contains("shim.sock", "Read-only file system");
      assertThat(said.substring(said.indexOf("### proc"), said.indexOf("### over")))
          .as("proc mounts of %s: its own whole one, and folds of it", pod)
          .doesNotContain("vgpu-manager")
          .doesNotContain("host");
    }
    Await.until(
        "the agent to know two processes", LIMIT, () -> metric("vgpu_registered_processes") == 2);
    assertThat(metric("vgpu_process_registrations_total{result=\"registered\"")).isEqualTo(2);
    for (String pod : List.of("root", "tenant")) {
      HostView view = host(uid(pod));
      assertThat(view.pids()).as("processes of %s on the host", pod).isNotEmpty();
      assertThat(view.slotPid()).as("what %s has in its usage", pod).isIn(view.innerPids());
      assertThat(view.pids()).doesNotContain(view.slotPid());
    }
    cluster.client().pods().inNamespace(namespace).withName("root").withGracePeriod(0).delete();
    Await.until(
        "the process to be forgotten", LIMIT, () -> metric("vgpu_registered_processes") == 1);
  }

  private void create(String name, Optional<Long> user) {
    Pod pod =
        VgpuPods.pod(
            namespace,
            name,
            java.util.Map.of(),
            List.of(VgpuPods.container("main", VgpuPods.limits(1, 10, 1024), WORK)));
    user.ifPresent(
        id ->
            pod.getSpec()
                .setSecurityContext(new PodSecurityContextBuilder().withRunAsUser(id).build()));
    cluster.client().resource(DriverMounts.into(pod, cluster)).create();
  }

  private String log(String pod) {
    try {
      String log = cluster.client().pods().inNamespace(namespace).withName(pod).getLog();
      return log == null ? "" : log;
    } catch (io.fabric8.kubernetes.client.KubernetesClientException e) {
      return ""; // it has not begun
    }
  }

  private String story(String pod) {
    return log(pod)
        + "\n"
        + cluster.client().pods().inNamespace(namespace).withName(pod).get()
        + "\n"
        + cluster.client().v1().events().inNamespace(namespace).list().getItems().stream()
            .filter(e -> e.getInvolvedObject().getName().equals(pod))
            .map(e -> e.getReason() + ": " + e.getMessage())
            .toList();
  }

  private String uid(String pod) {
    return cluster
        .client()
        .pods()
        .inNamespace(namespace)
        .withName(pod)
        .get()
        .getMetadata()
        .getUid();
  }

  /** The sum of the series that begin so. */
  private double metric(String begins) {
    return product
        .metrics(OurPart.AGENT)
        .lines()
        .filter(l -> l.startsWith(begins))
        .mapToDouble(l -> Double.parseDouble(l.substring(l.lastIndexOf(' ') + 1)))
        .sum();
  }

  /** A pod's processes as the host counts them and as they count themselves, and its first slot. */
  private record HostView(List<Integer> pids, List<Integer> innerPids, int slotPid) {}

  private HostView host(String uid) {
    List<Integer> pids = new ArrayList<>();
    List<Integer> inner = new ArrayList<>();
    try (Stream<Path> processes = Files.list(Path.of("/proc"))) {
      for (Path p : processes.filter(f -> f.getFileName().toString().matches("\\d+")).toList()) {
        if (read(p.resolve("cgroup")).contains(uid)) {
          Matcher pid = INNER_PID.matcher(read(p.resolve("status")));
          if (pid.find()) {
            pids.add(Integer.parseInt(p.getFileName().toString()));
            inner.add(Integer.parseInt(pid.group(1)));
          }
        }
      }
      Path usage =
          cluster.paths().runDir().resolve("usage").resolve(uid + "_main").resolve("usage");
      byte[] bytes = Files.readAllBytes(usage);
      return new HostView(
          pids,
          inner,
          java.nio.ByteBuffer.wrap(bytes)
              .order(java.nio.ByteOrder.LITTLE_ENDIAN)
              .getInt(4096 + 4)); // slot 0, pid
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static String read(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException e) {
      return ""; // it has ended
    }
  }
}
