package io.vgpu.control.reschedule;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.vertx.core.DeploymentOptions;
import io.vertx.core.ThreadingModel;
import io.vertx.core.Vertx;
import io.vgpu.claim.InventoryCodec;
import io.vgpu.claim.Names;
import io.vgpu.control.metrics.ControlMeters.Part;
import io.vgpu.control.metrics.MetricPage;
import io.vgpu.control.reschedule.kube.ControllerApi;
import io.vgpu.control.reschedule.kube.FailedPodWatches;
import io.vgpu.control.testing.ObjectApiServer;
import io.vgpu.model.GpuDevice;
import io.vgpu.model.GpuUuid;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/** The rescheduler as a whole, over HTTP, against a small API server. */
class ControllerIT {
  private static final JsonMapper JSON = JsonMapper.shared();
  private static final String PODS = "/api/v1/namespaces/a/pods";
  private static final String COPIES = "/api/v1/namespaces/copies/secrets";

  private final PrometheusMeterRegistry meters =
      new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
  private final ObjectApiServer api = new ObjectApiServer();
  private Vertx vertx = Vertx.vertx();
  private ControllerApi access = access();
  private FailedPodWatches watches;

  private ControllerApi access() {
    return new ControllerApi(
        null,
        api.url(),
        Duration.ofSeconds(5),
        Names.DEFAULT,
        "copies",
        Duration.ofSeconds(1),
        meters);
  }

  @BeforeEach
  void start() {
    RescheduleVerticle verticle =
        new RescheduleVerticle(
            new Rescheduler(
                access.pods(), new RescheduleReconciler(), access.news(), Clock.systemUTC()));
    watches = access.failedPods(verticle::offer);
    vertx
        .deployVerticle(
            verticle, new DeploymentOptions().setThreadingModel(ThreadingModel.VIRTUAL_THREAD))
        .toCompletionStage()
        .toCompletableFuture()
        .orTimeout(20, TimeUnit.SECONDS)
        .join();
    vertx
        .deployVerticle(
            access.leaving(verticle::offer, Duration.ofMillis(50)),
            new DeploymentOptions().setThreadingModel(ThreadingModel.VIRTUAL_THREAD))
        .toCompletionStage()
        .toCompletableFuture()
        .orTimeout(20, TimeUnit.SECONDS)
        .join();
    watches.start();
  }

  @AfterEach
  void stop() {
    watches.close();
    vertx.close().toCompletionStage().toCompletableFuture().orTimeout(20, TimeUnit.SECONDS).join();
    api.close();
  }

  @Test
  void replacesABarePodThatTheKubeletRefused() {
    ObjectNode original = api.put(PODS, failed("bare"));
    String uid = original.path("metadata").path("uid").asString();
    api.until("replacement", a -> replaces(a, "bare").equals(uid));
    ObjectNode made = api.get(PODS, "bare");
    assertThat(made.path("spec").path("newerField").asString()).isEqualTo("kept");
    assertThat(made.path("spec").has("nodeName")).isFalse();
    assertThat(made.has("status")).isFalse();
    api.until("copy let go", a -> a.all(COPIES).isEmpty());
    api.until("event", a -> !a.all("/api/v1/namespaces/a/events").isEmpty());
    assertThat(api.all("/api/v1/namespaces/a/events").getFirst().path("reason").asString())
        .isEqualTo("Rescheduled");
    MetricPage.namesAllOf(Part.CONTROLLER, meters.scrape());
  }

  @Test
  void replacesABarePodThatRunsWithoutDevicesOnceItHasEnded() {
    ObjectNode pod = failed("running");
    pod.set("status", JSON.createObjectNode().put("phase", "Running"));
    pod.withObject("/metadata/labels").put("nvidia.com/assigned-phase", "failed");
    String uid = api.put(PODS, pod).path("metadata").path("uid").asString();
    api.until("termination", a -> a.get(PODS, "running").path("metadata").has("deletionTimestamp"));
    assertThat(api.all(COPIES)).as("the copy is kept while the pod ends").hasSize(1);
    assertThat(api.requests()).contains("POST " + PODS + "/running/eviction");
    api.remove(PODS, "running");
    api.until("replacement", a -> replaces(a, "running").equals(uid));
  }

  @Test
  void leavesAJobsPodsToTheJobAndEvictsWhatRunsWithoutDevices() {
    api.put(PODS, owned(failed("counted"), "batch/v1", "Job"));
    ObjectNode running = owned(failed("stray"), "apps/v1", "ReplicaSet");
    running.set("status", JSON.createObjectNode().put("phase", "Running"));
    running.withObject("/metadata/labels").put("nvidia.com/assigned-phase", "failed");
    api.put(PODS, running);
    api.until("eviction", a -> a.get(PODS, "stray").path("metadata").has("deletionTimestamp"));
    assertThat(api.get(PODS, "counted").path("metadata").has("deletionTimestamp")).isFalse();
    assertThat(api.all(COPIES)).isEmpty();
    assertThat(api.requests()).noneMatch(r -> r.startsWith("DELETE") || r.contains("counted"));
  }

  @Test
  void honoursADisruptionBudgetAndTriesAgain() {
    api.fail(new ObjectApiServer.Fault(r -> r.endsWith("/guarded/eviction"), 429, false));
    ObjectNode pod = owned(failed("guarded"), "apps/v1", "ReplicaSet");
    pod.set("status", JSON.createObjectNode().put("phase", "Running"));
    pod.withObject("/metadata/labels").put("nvidia.com/assigned-phase", "failed");
    api.put(PODS, pod);
    api.until("eviction", a -> a.get(PODS, "guarded").path("metadata").has("deletionTimestamp"));
    assertThat(api.requests().stream().filter(r -> r.endsWith("/guarded/eviction"))).hasSize(2);
  }

  @Test
  void goesOnWhenAnswersAreLost() {
    for (String lost :
        List.of(
            "POST " + COPIES,
            "DELETE " + PODS + "/unlucky",
            "POST " + PODS,
            "DELETE " + COPIES + "/vgpu-copy-")) {
      api.fail(new ObjectApiServer.Fault(r -> r.startsWith(lost), 503, true));
    }
    String uid = api.put(PODS, failed("unlucky")).path("metadata").path("uid").asString();
    api.until("replacement", a -> replaces(a, "unlucky").equals(uid));
    api.until("copy let go", a -> a.all(COPIES).isEmpty());
    assertThat(api.requests().stream().filter(r -> r.equals("POST " + PODS))).hasSize(1);
  }

  @Test
  void finishesWhatAnEarlierControllerBegan() {
    stopOnly();
    ObjectNode pod = api.put(PODS, failed("orphan"));
    String uid = pod.path("metadata").path("uid").asString();
    PodsApi pods = access.pods();
    LivePod live = pods.get("a", "orphan").orElseThrow();
    pods.store(
        new StoredCopy(
            live.pod().ref(), live.resourceVersion(), live.copy(), Clock.systemUTC().instant()));
    pods.delete(live.pod().ref(), live.resourceVersion());
    assertThat(api.all(PODS)).isEmpty();

    vertx = Vertx.vertx();
    start();
    api.until("replacement", a -> replaces(a, "orphan").equals(uid));
    api.until("copy let go", a -> a.all(COPIES).isEmpty());
  }

  /** Its account may list, make, change and delete the copies, not read single ones. */
  @Test
  void keepsANewerStateWithoutReadingTheOldCopy() {
    stopOnly();
    api.put(PODS, failed("twice"));
    PodsApi pods = access.pods();
    LivePod live = pods.get("a", "twice").orElseThrow();
    for (String version : List.of("1", "2")) {
      pods.store(
          new StoredCopy(live.pod().ref(), version, live.copy(), Clock.systemUTC().instant()));
    }
    assertThat(pods.stored()).extracting(StoredCopy::resourceVersion).containsExactly("2");
    assertThat(api.requests()).noneMatch(r -> r.startsWith("GET " + COPIES + "/"));
  }

  @Test
  void evictsWhatHoldsADrainedCardAndLeavesCordonedOnesAndDaemonSetsAlone() {
    api.fail(new ObjectApiServer.Fault(r -> r.endsWith("/held/eviction"), 429, false));
    api.put(PODS, owned(running("held", "GPU-a"), "apps/v1", "ReplicaSet"));
    api.put(PODS, owned(running("daemon", "GPU-a"), "apps/v1", "DaemonSet"));
    api.put(PODS, running("beside", "GPU-b"));
    api.put(PODS, running("free", "GPU-c"));
    node("{'GPU-a':{'mode':'drain','reason':'fan'},'GPU-b':{'mode':'cordon'}}", "GPU-b", "GPU-d");
    api.until("eviction", a -> a.get(PODS, "held").path("metadata").has("deletionTimestamp"));
    api.until("refusal and skipping told", a -> told(a).size() == 3);
    assertThat(told(api))
        .contains(
            "held EvictionRefused GPU GPU-a is drained: fan; a disruption budget forbids its"
                + " eviction now, tried again",
            "held Evicted ReplicaSet o makes another one, because GPU GPU-a is drained: fan",
            "daemon NotRescheduled GPU GPU-a is drained: fan, but pods of a DaemonSet are not"
                + " moved: it would make the next one here");
    assertThat(api.requests())
        .noneMatch(r -> r.contains("beside") || r.contains("free") || r.contains("daemon/"));
  }

  @Test
  void replacesABarePodOnACardThatStaysUnhealthy() {
    api.put(PODS, running("sick", "GPU-a"));
    ObjectNode patient = running("patient", "GPU-a");
    patient.withObject("/metadata/annotations").put("nvidia.com/stuck-grace-period", "1h");
    api.put(PODS, patient);
    node("{}", "GPU-a");
    api.until("termination", a -> a.get(PODS, "sick").path("metadata").has("deletionTimestamp"));
    String uid = api.get(PODS, "sick").path("metadata").path("uid").asString();
    api.remove(PODS, "sick");
    api.until("replacement", a -> replaces(a, "sick").equals(uid));
    assertThat(api.get(PODS, "patient").path("metadata").has("deletionTimestamp")).isFalse();
  }

  private static List<String> told(ObjectApiServer api) {
    return api.all("/api/v1/namespaces/a/events").stream()
        .map(
            e ->
                e.path("involvedObject").path("name").asString()
                    + " "
                    + e.path("reason").asString()
                    + " "
                    + e.path("message").asString())
        .toList();
  }

  private static ObjectNode running(String name, String card) {
    ObjectNode pod = failed(name);
    pod.set("status", JSON.createObjectNode().put("phase", "Running"));
    pod.withObject("/metadata/annotations")
        .put("nvidia.com/pre-allocated", "c[0_" + card + "_10_1]");
    return pod;
  }

  /** A node with these cards unhealthy. */
  private void node(String cordon, String... sick) {
    ObjectNode node = JSON.createObjectNode().put("apiVersion", "v1").put("kind", "Node");
    List<GpuDevice> devices = new ArrayList<>();
    for (String card : sick) {
      devices.add(
          new GpuDevice(
              devices.size(), "A10", new GpuUuid(card), 100, 100, 1, 0, false, "", 8, false));
    }
    node.putObject("metadata")
        .put("name", "n1")
        .putObject("annotations")
        .put("nvidia.com/device-cordon", cordon.replace('\'', '"'))
        .put("nvidia.com/node-device-register", InventoryCodec.encodeRegister(devices));
    api.put("/api/v1/nodes", node);
  }

  private void stopOnly() {
    watches.close();
    vertx.close().toCompletionStage().toCompletableFuture().orTimeout(20, TimeUnit.SECONDS).join();
  }

  private static String replaces(ObjectApiServer api, String name) {
    return api.get(PODS, name)
        .path("metadata")
        .path("annotations")
        .path(Names.REPLACES)
        .asString("");
  }

  private static ObjectNode failed(String name) {
    return (ObjectNode)
        JSON.readTree(
            """
            {"apiVersion":"v1","kind":"Pod","metadata":{"name":"NAME","labels":{"app":"x"},
              "annotations":{"nvidia.com/pre-allocated":"c[0_GPU-a_10_1]"}},
             "spec":{"nodeName":"n1","newerField":"kept","containers":[{"name":"c","image":"i",
               "resources":{"limits":{"nvidia.com/vgpu-number":"1"}}}]},
             "status":{"phase":"Failed","reason":"UnexpectedAdmissionError","message":"Allocate failed"}}"""
                .replace("NAME", name));
  }

  private static ObjectNode owned(ObjectNode pod, String version, String kind) {
    pod.withObject("/metadata")
        .putArray("ownerReferences")
        .addObject()
        .put("apiVersion", version)
        .put("kind", kind)
        .put("name", "o")
        .put("uid", "u")
        .put("controller", true);
    return pod;
  }
}
