package io.vgpu.e2e.product;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerBuilder;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Quantity;
import io.vgpu.claim.InventoryCodec;
import io.vgpu.claim.Names;
import io.vgpu.e2e.cluster.Await;
import io.vgpu.e2e.cluster.Cluster;
import io.vgpu.e2e.cluster.Images;
import io.vgpu.e2e.junit.RealCluster;
import io.vgpu.e2e.junit.SharedCluster;
import io.vgpu.e2e.junit.TestNamespace;
import io.vgpu.model.GpuDevice;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * Every resource on the real kubelet, and every way of injection through the real containerd: first
 * with everything on and by the kubelet's CDI field alone, then, with the agent started anew, by
 * environment, device nodes and CDI annotation, and with the gates off.
 */
@RealCluster
class ResourcesIT {
  private static final Duration LIMIT = Duration.ofSeconds(60);
  private static final Names NAMES = Names.DEFAULT;
  private static final String SMALL = "nvidia.com/mig-1g.5gb";
  private static final String BIG = "nvidia.com/mig-3g.20gb";
  private static final String BIG_UUID = "MIG-12345678-1234-1234-1234-12345678b002";
  private static final String LOOK =
      """
      echo "visible ${NVIDIA_VISIBLE_DEVICES:-unset}"
      echo "nodes" $(cd /dev && ls -d nvidia* nvidia-caps/*)
      echo "library" $(grep -c 'libcuda.so.1' /proc/self/mountinfo)
      echo "done"
      exec sleep 600
      """;

  private final Cluster cluster;
  private final SharedCluster shared;
  private final String namespace;
  private final Product product;

  ResourcesIT(Cluster cluster, SharedCluster shared, TestNamespace namespace) {
    this.cluster = cluster;
    this.shared = shared;
    this.namespace = namespace.name();
    this.product = new Product(cluster, Checkout.find());
  }

  /**
   * The kubelet goes on listing a resource for minutes after its plugin ended, and refuses pods
   * that name it: the next class must not inherit that.
   */
  @AfterEach
  void end() {
    product.stop();
    shared.stop();
  }

  private ProductConfig config(String... flags) {
    return ProductConfig.DEFAULT.withProfile("3xA100-mig").withAgentFlags(flags);
  }

  private long allocatable(String resource) {
    Quantity q = cluster.node().getStatus().getAllocatable().get(resource);
    return q == null ? -1 : q.getNumericalAmount().longValueExact();
  }

  private void awaitAllocatable(String resource, long amount) {
    Await.until(
        resource + " " + amount + " in " + cluster.node().getStatus().getAllocatable(),
        LIMIT,
        () -> allocatable(resource) == amount);
  }

  private Pod pod(String name, Map<String, Quantity> limits) {
    Container container =
        new ContainerBuilder()
            .withName("main")
            .withImage(Images.EXAMPLE)
            .withImagePullPolicy("Never")
            .withCommand("bash", "-c", LOOK)
            .withNewResources()
            .withLimits(limits)
            .endResources()
            .build();
    return cluster
        .client()
        .resource(VgpuPods.pod(namespace, name, Map.of(), List.of(container)))
        .create();
  }

  /** First word to the rest, as the pod printed it of itself. */
  private Map<String, String> seen(String name) {
    return Await.present(
        "what pod " + name + " prints",
        LIMIT,
        () -> {
          var pod = cluster.client().pods().inNamespace(namespace).withName(name);
          String phase = pod.get().getStatus().getPhase();
          assertThat(phase).as("%s", pod.get().getStatus()).isNotEqualTo("Failed");
          String log = "Running".equals(phase) ? pod.getLog() : "";
          if (!log.contains("done")) {
            return Optional.empty();
          }
          Map<String, String> words = new TreeMap<>();
          for (String line : log.lines().toList()) {
            String[] parts = line.split(" ", 2);
            words.put(parts[0], parts.length > 1 ? parts[1] : "");
          }
          return Optional.of(words);
        });
  }

  private void deletePods() {
    cluster.client().pods().inNamespace(namespace).withGracePeriod(0).delete();
    Await.until(
        "the pods to go",
        LIMIT,
        () -> cluster.client().pods().inNamespace(namespace).list().getItems().isEmpty());
  }

  private GpuDevice claimedCard(String pod) {
    String claim =
        annotation(
            cluster.client().pods().inNamespace(namespace).withName(pod).get(),
            NAMES.preAllocated());
    return cards().stream()
        .filter(d -> claim.contains(d.uuid().value()))
        .findFirst()
        .orElseThrow(() -> new AssertionError(claim));
  }

  private List<GpuDevice> cards() {
    return InventoryCodec.decodeRegister(annotation(cluster.node(), NAMES.nodeDeviceRegister()));
  }

  private static String annotation(HasMetadata object, String key) {
    return object.getMetadata().getAnnotations().getOrDefault(key, "");
  }

  @Test
  void everyResourceIsServedInEveryWay() throws Exception {
    everythingByCdi();
    aDrainedCardIsLeft();
    restarted();
    slicesByEnvironmentAndAnnotation();
    whatIsNotServedLeavesTheNode();
    assertThat(product.forbidden()).isEmpty();
  }

  private void everythingByCdi() {
    product.start(
        config(
            "--device-list-strategy=cdi-cri",
            "--cdi-root=" + cluster.paths().cdi(),
            "--device-memory-factor=256",
            "--feature-gates=GPUCoreResourcePlugin=true,GPUMemoryResourcePlugin=true"));
    awaitAllocatable(NAMES.vgpuNumber(), 20);
    awaitAllocatable(NAMES.vgpuCores(), 200);
    awaitAllocatable(NAMES.vgpuMemory(), 2 * (40960 / 256));
    awaitAllocatable(SMALL, 2);
    awaitAllocatable(BIG, 1);
    assertThat(cards()).extracting(GpuDevice::mig).containsExactly(false, false, true);

    pod("shared", VgpuPods.limits(1, 30, 4));
    pod("slice", Map.of(BIG, new Quantity("1")));

    Map<String, String> shared = seen("shared");
    assertThat(shared.get("visible")).as("13-41").isEqualTo("void");
    assertThat(shared.getOrDefault("nodes", "").split(" "))
        .containsExactlyInAnyOrder(
            "nvidia" + claimedCard("shared").id(),
            "nvidia-modeset",
            "nvidia-uvm",
            "nvidia-uvm-tools",
            "nvidiactl");
    assertThat(shared.get("library")).as("mounts of libcuda by CDI").isEqualTo("1");
    Map<String, String> slice = seen("slice");
    assertThat(slice.get("visible")).isEqualTo("void");
    assertThat(slice.getOrDefault("nodes", "").split(" "))
        .contains("nvidia2", "nvidia-caps/nvidia-cap7", "nvidia-caps/nvidia-cap8")
        .doesNotContain("nvidia0", "nvidia1", "nvidia-caps/nvidia-cap3");
  }

  /** D17: a bare pod goes from a drained card and comes back on the other one. */
  private void aDrainedCardIsLeft() throws Exception {
    GpuDevice card = claimedCard("shared");
    String uid = uid("shared");
    String node = cluster.node().getMetadata().getName();
    assertThat(vgpu("cordon", node, Integer.toString(card.id())))
        .isEqualTo("GPU " + card.id() + " (" + card.uuid() + ") cordoned");
    assertThat(vgpu("drain", node, card.uuid().value(), "--timeout", "60s"))
        .endsWith("node " + node + ": drained");
    Await.until("another pod of the name", LIMIT, () -> !List.of("", uid).contains(uid("shared")));
    seen("shared");
    assertThat(claimedCard("shared").uuid()).isNotEqualTo(card.uuid());
    assertThat(vgpu("uncordon", node)).endsWith("uncordoned");
  }

  private String uid(String name) {
    Pod pod = cluster.client().pods().inNamespace(namespace).withName(name).get();
    return pod == null ? "" : pod.getMetadata().getUid();
  }

  /** What the command prints, as an administrator. */
  private String vgpu(String... words) throws Exception {
    List<String> line = new ArrayList<>(List.of(Checkout.find().launcher("vgpu").toString()));
    line.addAll(List.of(words));
    line.add("--kubeconfig=" + cluster.paths().adminKubeconfig());
    Process process = new ProcessBuilder(line).redirectErrorStream(true).start();
    String printed = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor()).as(printed).isZero();
    return printed.strip();
  }

  private void restarted() {
    deletePods();
    product.stop();
    product.start(
        config(
            "--device-list-strategy=envvar,cdi-annotations",
            "--cdi-root=" + cluster.paths().cdi()));
    awaitAllocatable(BIG, 1);
  }

  private void slicesByEnvironmentAndAnnotation() {
    pod("slice", Map.of(BIG, new Quantity("1")));
    Map<String, String> slice = seen("slice");
    assertThat(slice.get("visible")).isEqualTo(BIG_UUID);
    assertThat(slice.getOrDefault("nodes", "").split(" "))
        .contains("nvidia2", "nvidia-caps/nvidia-cap7", "nvidia-caps/nvidia-cap8", "nvidiactl")
        .doesNotContain("nvidia0", "nvidia1");
    assertThat(slice.get("library")).as("mounts of libcuda by a CDI annotation").isEqualTo("1");
  }

  /** 13-26: the kubelet writes them back for minutes; ours may, and does, take them out again. */
  private void whatIsNotServedLeavesTheNode() {
    Await.until(
        "vgpu-cores and vgpu-memory to leave the node's status",
        LIMIT,
        () ->
            !cluster.node().getStatus().getCapacity().containsKey(NAMES.vgpuCores())
                && !cluster.node().getStatus().getCapacity().containsKey(NAMES.vgpuMemory()));
    assertThat(allocatable(NAMES.vgpuNumber())).isEqualTo(20);
  }
}
