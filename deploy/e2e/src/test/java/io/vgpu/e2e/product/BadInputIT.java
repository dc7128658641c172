package io.vgpu.e2e.product;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.Event;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.vgpu.claim.Names;
import io.vgpu.e2e.cluster.Await;
import io.vgpu.e2e.cluster.Cluster;
import io.vgpu.e2e.cluster.ProcessId;
import io.vgpu.e2e.junit.RealCluster;
import io.vgpu.e2e.junit.TestNamespace;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * Bad input gets a reason where its author looks for it; nothing crashes and nothing is left
 * behind. Once with the webhook, which refuses at admission, and once without, where scheduler and
 * agent must hold by themselves.
 */
@RealCluster
class BadInputIT {
  private static final Duration LIMIT = Duration.ofSeconds(60);
  private static final Names NAMES = Names.DEFAULT;
  private static final String SLEEP = "exec sleep 600";

  private final Cluster cluster;
  private final String namespace;
  private final Product product;
  private final Map<OurPart, ProcessId> started = new EnumMap<>(OurPart.class);

  BadInputIT(Cluster cluster, TestNamespace namespace) {
    this.cluster = cluster;
    this.namespace = namespace.name();
    this.product = new Product(cluster, Checkout.find());
  }

  private void start(ProductConfig config) {
    product.start(config);
    for (OurPart part : product.wantedParts()) {
      started.put(part, product.process(part).orElseThrow().id().orElseThrow());
    }
  }

  @AfterEach
  void nothingCrashedAndNothingIsLeft() {
    Path manager = cluster.paths().runDir().resolve("manager");
    // the controller may just be replacing a pod that is deleted here: what comes back is deleted
    // again
    Await.until(
        "the pods and the containers' files to go",
        LIMIT,
        () -> !deletedAny() && containerFiles(manager).isEmpty());
    started.forEach(
        (part, id) ->
            assertThat(product.process(part).orElseThrow().id())
                .as("%s was not restarted", part)
                .contains(id));
    assertThat(product.forbidden()).isEmpty();
    product.stop();
    product.forgetCopies();
  }

  private boolean deletedAny() {
    boolean any = !cluster.client().pods().inNamespace(namespace).list().getItems().isEmpty();
    if (any) {
      cluster.client().pods().inNamespace(namespace).withGracePeriod(0).delete();
    }
    return any;
  }

  /** Folders {@code <pod uid>_<container>}. */
  private static List<String> containerFiles(Path manager) {
    try (Stream<Path> entries = Files.list(manager)) {
      return entries
          .map(p -> p.getFileName().toString())
          .filter(n -> n.matches("[0-9a-f-]{36}_.*"))
          .toList();
    } catch (IOException e) {
      throw new java.io.UncheckedIOException(e);
    }
  }

  private Pod pod(String name, Map<String, String> annotations, Container... containers) {
    return VgpuPods.pod(namespace, name, annotations, List.of(containers));
  }

  private Pod pod(String name, long number, long cores, long memory) {
    return pod(
        name, Map.of(), VgpuPods.container("main", VgpuPods.limits(number, cores, memory), SLEEP));
  }

  private Pod create(Pod pod) {
    return cluster.client().resource(pod).create();
  }

  private Pod get(String name) {
    return cluster.client().pods().inNamespace(namespace).withName(name).get();
  }

  private void awaitEvent(String pod, String says) {
    Await.until(
        "an event on " + pod + " that says '" + says + "'",
        LIMIT,
        () ->
            cluster
                .client()
                .v1()
                .events()
                .inNamespace(namespace)
                .withField("involvedObject.name", pod)
                .list()
                .getItems()
                .stream()
                .map(Event::getMessage)
                .anyMatch(m -> m != null && m.contains(says)));
  }

  private void awaitRunning(String pod) {
    boolean running =
        Await.holdsWithin(LIMIT, () -> "Running".equals(get(pod).getStatus().getPhase()));
    assertThat(running)
        .as(
            "pod %s runs; its status is %s, its events are %s, the extender says %s",
            pod,
            get(pod).getStatus(),
            cluster
                .client()
                .v1()
                .events()
                .inNamespace(namespace)
                .withField("involvedObject.name", pod)
                .list()
                .getItems(),
            product.log(OurPart.EXTENDER))
        .isTrue();
  }

  private void refused(Pod pod, String says) {
    assertThatThrownBy(() -> create(pod))
        .isInstanceOf(KubernetesClientException.class)
        .hasMessageContaining(says);
  }

  @Test
  void withTheWebhookBadRequestsAreRefusedAtAdmissionAndClaimsCannotBeEdited() {
    start(ProductConfig.DEFAULT);
    refused(pod("cores", 1, 101, 0), "container main requests vGPU core exceeding limit");
    refused(pod("number", 17, 10, 0), "container main requests vGPU number exceeding limit");
    refused(
        pod("memory", 1, 10, 5_000_000_000_000L),
        "container main requests vGPU memory exceeding limit");
    refused(pod("negative", -1, 10, 0), "-1");
    Pod reuse = pod("reuse", 1, 10, 64);
    reuse
        .getSpec()
        .setInitContainers(
            List.of(VgpuPods.container("init", VgpuPods.limits(2, 10, 64), "exit 0")));
    refused(reuse, "an app container after an init container of 2 must ask for at least 2");

    // what can be mended is mended
    assertThat(create(pod("only-cores", 0, 20, 64)).getSpec().getContainers().getFirst())
        .extracting(c -> c.getResources().getLimits().get(NAMES.vgpuNumber()))
        .isEqualTo(new Quantity("1"));
    // what only we may write is removed
    Pod forger =
        create(
            pod(
                "forger",
                Map.of(NAMES.preAllocated(), "main[0_GPU-x_1_1]"),
                VgpuPods.container("main", VgpuPods.limits(1, 10, 64), SLEEP)));
    assertThat(forger.getMetadata().getAnnotations()).doesNotContainKey(NAMES.preAllocated());

    awaitRunning("forger");
    assertThatThrownBy(
            () ->
                cluster
                    .client()
                    .pods()
                    .inNamespace(namespace)
                    .withName("forger")
                    .edit(
                        p -> {
                          p.getMetadata()
                              .getAnnotations()
                              .put(NAMES.preAllocated(), "main[0_GPU-x_100_99999]");
                          return p;
                        }))
        .isInstanceOf(KubernetesClientException.class)
        .hasMessageContaining(NAMES.preAllocated());
  }

  @Test
  void withoutTheWebhookTheReasonIsOnThePod() {
    start(ProductConfig.DEFAULT.withoutWebhook().withoutGuard());
    create(pod("cores", 1, 101, 0));
    create(pod("number", 17, 10, 0));
    create(pod("memory", 1, 10, 5_000_000_000_000L));
    create(pod("only-cores", 0, 20, 0));
    create(pod("zero", 0, 0, 64));
    create(pod("too-many", 9, 10, 64));
    create(
        pod(
            "unknown-policy",
            Map.of(NAMES.deviceSchedulerPolicy(), "tightest"),
            VgpuPods.container("main", VgpuPods.limits(1, 10, 64), SLEEP)));
    Pod literalZero = pod("literal-zero", 0, 0, 0);
    literalZero
        .getSpec()
        .getContainers()
        .getFirst()
        .getResources()
        .setLimits(Map.of(NAMES.vgpuNumber(), new Quantity("0")));
    create(literalZero);
    awaitEvent("literal-zero", "requests vgpu-number 0: it gets no vGPU");
    awaitEvent("cores", "requests vGPU core exceeding limit");
    awaitEvent("number", "requests vGPU number exceeding limit");
    awaitEvent("memory", "requests vGPU memory exceeding limit");
    awaitEvent("only-cores", "without vgpu-number");
    awaitEvent("zero", "without vgpu-number");
    awaitEvent("too-many", "Insufficient GPU cards");
    awaitEvent("unknown-policy", "unsupported device scheduling policy \"tightest\"");
    awaitRunning("unknown-policy");

    // a claim that nobody of ours wrote, straight to the kubelet
    Pod malformed =
        pod(
            "malformed",
            Map.of(
                NAMES.preAllocated(),
                "main[garbage",
                NAMES.predicateNode(),
                cluster.config().nodeName()),
            VgpuPods.container("main", VgpuPods.limits(1, 10, 64), SLEEP));
    malformed.getSpec().setNodeName(cluster.config().nodeName());
    create(malformed);
    awaitRefusal("malformed", "must read name[devices]");
    Pod unsealed =
        pod(
            "unsealed",
            Map.of(
                NAMES.preAllocated(),
                "main[0_GPU-12345678-1234-1234-1234-123456780000_10_64]",
                NAMES.predicateNode(),
                cluster.config().nodeName()),
            VgpuPods.container("main", VgpuPods.limits(1, 10, 64), SLEEP));
    unsealed.getSpec().setNodeName(cluster.config().nodeName());
    create(unsealed);
    awaitRefusal("unsealed", "was not written by the scheduler");
  }

  /**
   * The controller replaces what was refused, so the reason is looked for in the events of the
   * name, not only in the pod.
   */
  private void awaitRefusal(String pod, String says) {
    awaitEvent(pod, "Allocate check failed");
    awaitEvent(pod, says);
  }

  @Test
  void anUnreadableNodeConfigurationIsAReasonAndHeals() {
    start(ProductConfig.DEFAULT);
    String good =
        cluster.node().getMetadata().getAnnotations().getOrDefault(NAMES.nodeConfigInfo(), "");
    annotateNode("{\"deviceSplit\":");
    create(pod("waits", 1, 10, 64));
    awaitEvent("waits", "node vGPU configuration invalid");
    annotateNode(good);
    awaitRunning("waits");
  }

  private void annotateNode(String config) {
    cluster
        .client()
        .nodes()
        .withName(cluster.config().nodeName())
        .edit(
            n -> {
              n.getMetadata().getAnnotations().put(NAMES.nodeConfigInfo(), config);
              return n;
            });
  }
}
