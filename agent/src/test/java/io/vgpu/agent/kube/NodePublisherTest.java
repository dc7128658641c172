package io.vgpu.agent.kube;

import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.DeploymentOptions;
import io.vertx.core.Future;
import io.vertx.core.ThreadingModel;
import io.vertx.core.Vertx;
import io.vgpu.agent.gpu.DeviceSelection;
import io.vgpu.agent.gpu.FakeCards;
import io.vgpu.agent.gpu.NodeGpus;
import io.vgpu.agent.testing.FakeGpuDriver;
import io.vgpu.claim.InventoryCodec;
import io.vgpu.claim.Names;
import io.vgpu.event.VgpuEvent.GpuInventoryChanged;
import io.vgpu.event.wire.EventBusPort;
import io.vgpu.kube.KubeClient;
import io.vgpu.model.GpuDevice;
import io.vgpu.model.NodeConfig;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

class NodePublisherTest {
  private static final JsonMapper JSON = JsonMapper.builder().build();

  @TempDir Path dir;
  private final Vertx vertx = Vertx.vertx();
  private final EventBusPort bus = new EventBusPort(vertx);
  private final FakeGpuDriver driver = new FakeGpuDriver(2);
  private final NodeGpus gpus =
      new NodeGpus(driver.discover(), NodeConfig.DEFAULT, Optional.empty(), DeviceSelection.NONE);
  private final BlockingQueue<Boolean> tried = new LinkedBlockingQueue<>();

  @BeforeEach
  void noStaleTries() {
    tried.clear();
  }

  @AfterEach
  void stop() throws Exception {
    await(vertx.close());
  }

  private static <T> T await(Future<T> future) throws Exception {
    return future.toCompletionStage().toCompletableFuture().get(20, TimeUnit.SECONDS);
  }

  private static String node(String annotations, String labels) {
    return "{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\"n1\",\"annotations\":"
        + annotations
        + ",\"labels\":"
        + labels
        + "}}";
  }

  private NodePublisher publish(FakeNodeApi api) throws Exception {
    Path kubeconfig = dir.resolve("kubeconfig");
    Files.writeString(
        kubeconfig,
        """
        apiVersion: v1
        kind: Config
        clusters: [{name: c, cluster: {server: "%s"}}]
        users: [{name: u, user: {token: t}}]
        contexts: [{name: x, context: {cluster: c, user: u}}]
        current-context: x
        """
            .formatted(api.url()));
    NodePublisher publisher =
        new NodePublisher(
            KubeClient.open(kubeconfig, null, Duration.ofSeconds(5)).get(),
            "n1",
            Names.DEFAULT,
            driver.info(),
            gpus,
            bus,
            tried::add);
    await(
        vertx.deployVerticle(
            publisher, new DeploymentOptions().setThreadingModel(ThreadingModel.VIRTUAL_THREAD)));
    return publisher;
  }

  private boolean nextTry() throws InterruptedException {
    Boolean ok = tried.poll(20, TimeUnit.SECONDS);
    assertThat(ok).isNotNull();
    return ok;
  }

  @Test
  void aNodeOfSlicesOnlyIsPublishedToo_13_28() {
    NodeGpus slices =
        new NodeGpus(
            List.of(FakeCards.card(0, 132, true), FakeCards.card(1, 132, true)),
            NodeConfig.DEFAULT,
            Optional.empty(),
            DeviceSelection.NONE);
    NodeMetadata wanted = NodeMetadata.wanted(Names.DEFAULT, driver.info(), slices.published());
    assertThat(
            InventoryCodec.decodeRegister(
                String.valueOf(wanted.annotations().get(Names.DEFAULT.nodeDeviceRegister()))))
        .extracting(GpuDevice::mig)
        .containsExactly(true, true);
    assertThat(wanted.labels()).containsKey(Names.DRIVER_VERSION_LABEL);
  }

  @Test
  void writesWhatIsMissingWithOneGetAndOnePatch() throws Exception {
    String foreign =
        "{\"mine\":\"kept\",\"nvidia.com/vgpu-compute-policy\":\"balance\",\"nvidia.com/node-device-topology\":\"[]\"}";
    try (FakeNodeApi api = new FakeNodeApi(vertx, node(foreign, "{}"))) {
      publish(api);
      assertThat(nextTry()).isTrue();

      assertThat(api.requests).containsExactly("GET /api/v1/nodes/n1", "PATCH /api/v1/nodes/n1");
      assertThat(api.patches).hasSize(1);
      String[] patch = api.patches.getFirst().split(" ", 2);
      assertThat(patch[0]).isEqualTo("application/merge-patch+json");
      JsonNode metadata = JSON.readTree(patch[1]).get("metadata");
      JsonNode annotations = metadata.get("annotations");
      assertThat(annotations.propertyNames())
          .containsExactlyInAnyOrder(
              "nvidia.com/node-config-info",
              "nvidia.com/node-device-register",
              "nvidia.com/node-device-topology");
      assertThat(annotations.get("nvidia.com/node-device-topology").isNull()).isTrue();
      assertThat(
              InventoryCodec.decodeRegister(
                  annotations.get("nvidia.com/node-device-register").stringValue()))
          .isEqualTo(gpus.published().devices());
      JsonNode labels = metadata.get("labels");
      assertThat(labels.get(Names.CUDA_VERSION_LABEL).stringValue()).isEqualTo("12.4");
      assertThat(labels.get(Names.CUDA_MAJOR_LABEL).stringValue()).isEqualTo("12");
      assertThat(labels.get(Names.CUDA_MINOR_LABEL).stringValue()).isEqualTo("4");
      assertThat(labels.get(Names.DRIVER_VERSION_LABEL).stringValue()).isEqualTo("550.163.01");
    }
  }

  @Test
  void patchesAgainOnlyWhenSomethingChanged() throws Exception {
    try (FakeNodeApi api = new FakeNodeApi(vertx, node("{}", "{}"))) {
      publish(api);
      assertThat(nextTry()).isTrue();
      bus.publish(new GpuInventoryChanged(Instant.EPOCH, "n1", gpus.published()));
      gpus.markUnhealthy(FakeGpuDriver.uuid(1), "XID 79");
      bus.publish(new GpuInventoryChanged(Instant.EPOCH, "n1", gpus.published()));
      assertThat(nextTry()).isTrue();

      assertThat(api.patches).hasSize(2);
      JsonNode metadata = JSON.readTree(api.patches.get(1).split(" ", 2)[1]).get("metadata");
      assertThat(metadata.propertyNames()).containsExactly("annotations");
      assertThat(metadata.get("annotations").propertyNames())
          .containsExactly("nvidia.com/node-device-register");
      assertThat(api.requests).filteredOn(r -> r.startsWith("GET")).hasSize(1);
    }
  }

  @Test
  void aNodeThatIsRightAlreadyIsLeftAlone() throws Exception {
    NodeMetadata wanted = NodeMetadata.wanted(Names.DEFAULT, driver.info(), gpus.published());
    var annotations = JSON.createObjectNode();
    wanted
        .annotations()
        .forEach(
            (k, v) -> {
              if (v != null) {
                annotations.put(k, v);
              }
            });
    var labels = JSON.createObjectNode();
    wanted.labels().forEach(labels::put);
    try (FakeNodeApi api =
        new FakeNodeApi(vertx, node(annotations.toString(), labels.toString()))) {
      NodePublisher publisher = publish(api);
      gpus.markUnhealthy(FakeGpuDriver.uuid(0), "XID 79");
      bus.publish(new GpuInventoryChanged(Instant.EPOCH, "n1", gpus.published()));
      assertThat(nextTry()).isTrue();
      assertThat(api.patches).hasSize(1); // the change only: the first look wrote nothing
      assertThat(api.patches.getFirst()).doesNotContain("node-config-info");
      assertThat(publisher.published()).isTrue();
    }
  }

  @Test
  void anApiThatIsAwayIsAskedAgainUntilItAnswers() throws Exception {
    try (FakeNodeApi api = new FakeNodeApi(vertx, node("{}", "{}"))) {
      api.failures.set(2);
      publish(api);
      assertThat(nextTry()).isFalse();
      assertThat(nextTry()).isFalse();
      assertThat(nextTry()).isTrue();
      assertThat(api.patches).hasSize(1);
    }
  }

  @Test
  void aNodeThatWasMadeAnewIsWrittenAgainOnceItIsRead() throws Exception {
    try (FakeNodeApi api = new FakeNodeApi(vertx, node("{}", "{}"))) {
      NodePublisher publisher = publish(api);
      assertThat(nextTry()).isTrue();
      publisher.readAgain(); // the fake's node never keeps what is written: it is as if made anew
      assertThat(nextTry()).isTrue();
      assertThat(api.patches).hasSize(2);
      assertThat(api.patches.get(1)).isEqualTo(api.patches.get(0));
      assertThat(api.requests).filteredOn(r -> r.startsWith("GET")).hasSize(2);
    }
  }
}
