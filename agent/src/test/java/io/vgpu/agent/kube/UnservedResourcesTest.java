package io.vgpu.agent.kube;

import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.DeploymentOptions;
import io.vertx.core.Future;
import io.vertx.core.ThreadingModel;
import io.vertx.core.Vertx;
import io.vgpu.kube.KubeClient;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@DisplayName("13-26: capacity of what is no longer served is cleaned up, within bounds")
class UnservedResourcesTest {
  private static final String CORES = "nvidia.com/vgpu-cores";
  private static final String MEMORY = "nvidia.com/vgpu-memory";
  private static final String NODE = "/api/v1/nodes/n1";

  @TempDir Path dir;
  private final Vertx vertx = Vertx.vertx();

  @AfterEach
  void stop() throws Exception {
    await(vertx.close());
  }

  private static <T> T await(Future<T> future) throws Exception {
    return future.toCompletionStage().toCompletableFuture().get(30, TimeUnit.SECONDS);
  }

  private static String node(String capacity, String allocatable) {
    return """
    {"apiVersion":"v1","kind":"Node","metadata":{"name":"n1","resourceVersion":"77"},
     "status":{"capacity":%s,"allocatable":%s}}"""
        .formatted(capacity, allocatable);
  }

  private UnservedResources deploy(KubeClient client) throws Exception {
    UnservedResources work =
        new UnservedResources(client.get(), "n1", List.of(CORES, MEMORY), Duration.ofMillis(1));
    await(
        vertx.deployVerticle(
            work, new DeploymentOptions().setThreadingModel(ThreadingModel.VIRTUAL_THREAD)));
    return work;
  }

  @Test
  void takesAwayWhatNobodyServesAndNothingElse() throws Exception {
    try (FakeApiServer api = new FakeApiServer();
        KubeClient client = api.client(dir)) {
      api.answers.put(
          NODE,
          node(
              "{\"cpu\":\"8\",\"" + CORES + "\":\"0\",\"" + MEMORY + "\":\"100\"}",
              "{\"cpu\":\"8\",\"" + CORES + "\":\"0\",\"" + MEMORY + "\":\"100\"}"));
      UnservedResources work = deploy(client);

      FakeApiServer.Write write = api.next("/status");
      api.answers.put(NODE, node("{\"cpu\":\"8\"}", "{\"cpu\":\"8\"}"));

      assertThat(write.path()).isEqualTo(NODE + "/status");
      assertThat(write.body())
          .as("of the node that was read, so that a kubelet that serves it again wins")
          .isEqualTo(
              "{\"metadata\":{\"resourceVersion\":\"77\"},\"status\":{\"capacity\":{\""
                  + CORES
                  + "\":null},\"allocatable\":{\""
                  + CORES
                  + "\":null}}}");
      assertThat(await(work.done())).isLessThan(UnservedResources.MAX_LOOKS);
    }
  }

  @Test
  void looksSixTimesAtANodeThatHasNone() throws Exception {
    try (FakeApiServer api = new FakeApiServer();
        KubeClient client = api.client(dir)) {
      api.answers.put(NODE, node("{\"cpu\":\"8\"}", "{\"cpu\":\"8\"}"));

      assertThat(await(deploy(client).done())).isEqualTo(UnservedResources.CLEAN_LOOKS);
      assertThat(api.unread()).isZero();
    }
  }

  @Test
  void doesNotAskAgainWhatIsForbidden() throws Exception {
    try (FakeApiServer api = new FakeApiServer();
        KubeClient client = api.client(dir)) {
      api.answers.put(NODE, node("{\"" + CORES + "\":\"0\"}", "{}"));
      api.failNext(100, 403);

      assertThat(await(deploy(client).done())).isEqualTo(1);
    }
  }

  @Test
  void givesUpAgainstAKubeletThatWritesItBackForEver() throws Exception {
    try (FakeApiServer api = new FakeApiServer();
        KubeClient client = api.client(dir)) {
      api.answers.put(NODE, node("{\"" + CORES + "\":\"100\"}", "{\"" + CORES + "\":\"0\"}"));

      assertThat(await(deploy(client).done())).isEqualTo(UnservedResources.MAX_LOOKS);
      assertThat(api.unread()).isEqualTo(UnservedResources.MAX_LOOKS);
    }
  }
}
