package io.vgpu.e2e.scale;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
import io.vgpu.claim.ClaimCodec;
import io.vgpu.claim.Names;
import io.vgpu.e2e.cluster.Await;
import io.vgpu.e2e.cluster.Cluster;
import io.vgpu.e2e.junit.RealCluster;
import io.vgpu.e2e.junit.TestNamespace;
import io.vgpu.e2e.product.Checkout;
import io.vgpu.e2e.product.OurPart;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * The configuration of kube-scheduler that is shipped, in the real kube-scheduler, against the real
 * API server: every verb that it names is called and its answer taken.
 */
@RealCluster
class ShippedSchedulerIT {
  private static final Duration LIMIT = Duration.ofSeconds(60);
  private static final Names NAMES = Names.DEFAULT;
  private static final SchedulerVariant SHIPPED = new SchedulerVariant(true, false, 1_000);
  private static final SchedulerVariant STEERING = new SchedulerVariant(true, true, 1_000);

  private final Cluster cluster;
  private final String namespace;
  private final Stage stage;

  ShippedSchedulerIT(Cluster cluster, TestNamespace namespace) {
    this.cluster = cluster;
    this.namespace = namespace.name();
    this.stage = new Stage(cluster, Checkout.find(), namespace.name());
  }

  @BeforeEach
  void begin() {
    stage.extender();
  }

  @AfterEach
  void end() {
    stage.close();
  }

  @Test
  void aBurstIsBoundOnceWithinItsCardsWhileTheAutoscalerAsks() {
    stage.nodes().addGpuNodes("gpu", 50);
    stage.nodes().addPlainNodes("plain", 2);
    stage.nodes().addGpuNode("small", 1, 1);
    DryRuns dryRuns = new DryRuns(cluster);
    List<Node> asked = new ArrayList<>(stage.nodes().list());
    asked.add(SimulatedNodes.template("made-up"));
    // a few pods of the burst fill a card, never half of a node: all but those with fewer cards fit
    Pod four = pod("asked", Map.of(), Map.of(NAMES.vgpuNumber(), "4", NAMES.vgpuMemory(), "1"));
    four.getMetadata().setUid("made-up");
    dryRuns.question(four, asked);
    ConcurrentLinkedQueue<TreeSet<String>> answers = new ConcurrentLinkedQueue<>();

    Wave.Result result =
        stage
            .wave()
            .run(
                SimulatedPods.vgpu(namespace, "p", 100, Map.of(), 1),
                SHIPPED,
                () -> answers.add(dryRuns.ask()));

    assertThat(result.bound().size()).isEqualTo(100);
    assertThat(result.boundTwice()).isEmpty();
    assertThat(new Promises(stage.nodes()).breaches(result.bound())).isEmpty();
    // a Binding and an event, and a list where the watch had been silent; the third of a pod's
    // three is the agent's
    assertThat(result.requestsPerPod(OurPart.EXTENDER.user()))
        .as("requests %s", result.requests())
        .isBetween(1.0, 2.1);
    TreeSet<String> right =
        Stream.concat(IntStream.range(0, 50).mapToObj(i -> "gpu-" + i), Stream.of("made-up"))
            .collect(Collectors.toCollection(TreeSet::new));
    assertThat(answers).isNotEmpty().allSatisfy(a -> assertThat(a).isEqualTo(right));
  }

  @Test
  void podsWithoutCardsLeaveIdleCardsAloneWhereThereAreOtherNodes() {
    stage.nodes().addGpuNodes("gpu", 12);
    stage.nodes().addPlainNodes("plain", 4);
    List<Pod> pods = new ArrayList<>(SimulatedPods.withoutCards(namespace, "cpu", 40));
    pods.addAll(SimulatedPods.vgpu(namespace, "gpu", 10, Map.of(), 1));

    Wave.Result result = stage.wave().run(pods, STEERING);

    assertThat(result.bound().size()).isEqualTo(50);
    assertThat(new Promises(stage.nodes()).breaches(result.bound())).isEmpty();
    assertThat(result.bound())
        .extracting(p -> kind(p.getMetadata().getName()) + " on " + kind(p.getSpec().getNodeName()))
        .containsOnly("cpu on plain", "gpu on gpu");
    // asked about every pod, in vain about those with cards
    assertThat(stage.metrics().sum("vgpu_scheduler_verb_total", "verb=\"steer\"")).isEqualTo(50);
  }

  @Test
  void preemptionTakesThoseWhoseGoingMakesRoomAndLeavesWhomABudgetKeeps() {
    stage.nodes().addGpuNode("full", 2, 2);
    makePriorityClass();
    makeBudget();
    stage
        .wave()
        .run(
            List.of(
                low("kept-1", 0, 50),
                low("kept-2", 0, 50),
                low("large", 1, 60),
                low("little", 1, 40)),
            SHIPPED);
    MetricText before = stage.metrics();
    Pod high = pod("high", Map.of(), oneCard(80));
    high.getSpec().setPriorityClassName("e2e-high");
    cluster.client().resource(high).create();

    stage.scheduler().start(SHIPPED);
    Await.until(
        "the high pod to be bound", LIMIT, () -> get("high").getSpec().getNodeName() != null);

    List<Pod> left = cluster.client().pods().inNamespace(namespace).list().getItems();
    assertThat(left)
        .extracting(p -> p.getMetadata().getName())
        .containsExactlyInAnyOrder("kept-1", "kept-2", "high");
    assertThat(new Promises(stage.nodes()).breaches(left)).isEmpty();
    assertThat(
            ClaimCodec.decode(
                    get("high")
                        .getMetadata()
                        .getAnnotations()
                        .getOrDefault(NAMES.preAllocated(), ""))
                .of("main")
                .orElseThrow()
                .uuids())
        .hasToString("[" + card(1) + "]");
    // kube-scheduler counts slots and proposes one pod; that the other must go too only we know
    assertThat(
            stage.metrics().sum("vgpu_scheduler_preempt_victims_added_sum", "")
                - before.sum("vgpu_scheduler_preempt_victims_added_sum", ""))
        .isPositive();
  }

  private static String kind(String name) {
    return name.substring(0, name.indexOf('-'));
  }

  private Pod low(String name, int card, int cores) {
    Pod pod = pod(name, Map.of(NAMES.includeGpuUuid(), card(card)), oneCard(cores));
    pod.getMetadata().setLabels(Map.of("kept", "" + name.startsWith("kept-")));
    return pod;
  }

  /** Memory in proportion, so that it is as short as cores are. */
  private static Map<String, String> oneCard(int cores) {
    return Map.of(
        NAMES.vgpuNumber(), "1",
        NAMES.vgpuCores(), "" + cores,
        NAMES.vgpuMemory(), "" + cores * 800);
  }

  private String card(int index) {
    return stage.nodes().cards().getOrDefault("full", List.of()).get(index).uuid().value();
  }

  private Pod pod(String name, Map<String, String> annotations, Map<String, String> limits) {
    return SimulatedPods.pod(namespace, name, annotations, limits);
  }

  private Pod get(String name) {
    return cluster.client().pods().inNamespace(namespace).withName(name).get();
  }

  private void makePriorityClass() {
    cluster
        .client()
        .raw(
            "/apis/scheduling.k8s.io/v1/priorityclasses",
            "POST",
            """
            {"apiVersion":"scheduling.k8s.io/v1","kind":"PriorityClass",
             "metadata":{"name":"e2e-high"},"value":1000}""");
  }

  /** One that allows no disruption, as long as nobody reckons its status. */
  private void makeBudget() {
    cluster
        .client()
        .raw(
            "/apis/policy/v1/namespaces/" + namespace + "/poddisruptionbudgets",
            "POST",
            """
            {"apiVersion":"policy/v1","kind":"PodDisruptionBudget","metadata":{"name":"kept"},
             "spec":{"minAvailable":2,"selector":{"matchLabels":{"kept":"true"}}}}""");
  }
}
