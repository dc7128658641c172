package io.vgpu.control.explain;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServer;
import io.vgpu.control.cli.VgpuRun;
import io.vgpu.control.testing.FakeApiServer;
import io.vgpu.control.testing.Nodes;
import io.vgpu.control.testing.Pods;
import io.vgpu.control.testing.RunningExtender;
import io.vgpu.model.NodeConfig;
import io.vgpu.runtime.OpsVerticle;
import java.io.IOException;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.node.ObjectNode;

/** Extenders come and go; what they decided is told all the same, through the users' command. */
@Timeout(value = 120, unit = TimeUnit.SECONDS)
class ExplainCollectorIT {
  private static final List<String> NODE = List.of("n1");

  @TempDir Path folder;

  private final Vertx vertx = Vertx.vertx();
  private final ExplainStore store = new ExplainStore();
  private final List<URI> extenders = new CopyOnWriteArrayList<>();

  @AfterEach
  void stop() {
    get(vertx.close());
  }

  private static <T> T get(Future<T> future) {
    return future.toCompletionStage().toCompletableFuture().orTimeout(30, TimeUnit.SECONDS).join();
  }

  private void collect() {
    get(
        vertx.deployVerticle(
            new ExplainCollector(
                vertx, () -> List.copyOf(extenders), store, Duration.ofMillis(50))));
  }

  private static void until(BooleanSupplier holds) {
    while (!holds.getAsBoolean()) {
      Thread.onSpinWait();
    }
  }

  private static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0)) {
      return socket.getLocalPort();
    }
  }

  private static URI local(int port) {
    return URI.create("http://127.0.0.1:" + port);
  }

  @Test
  void aDecisionOutlivesItsExtenderAndTheLatestOfAllWins() throws Exception {
    try (FakeApiServer api = new FakeApiServer()) {
      api.node(Nodes.record("n1", Nodes.u(1), NodeConfig.DEFAULT));
      int port = freePort();
      get(
          vertx.deployVerticle(
              new OpsVerticle(
                  "127.0.0.1",
                  port,
                  new PrometheusMeterRegistry(PrometheusConfig.DEFAULT),
                  List::of,
                  path -> {
                    String[] parts = path.split("/", -1);
                    return Future.succeededFuture(store.find(parts[2], parts[3]));
                  })));
      api.scheduler("vgpu-manager-controller-0", port);
      collect();
      ObjectNode pod = api.pod("p", Pods.of(1, 10, 1000).request().demand(), Map.of());
      ObjectNode big = api.pod("big", Pods.of(1, 10, 90_000).request().demand(), Map.of());
      try (RunningExtender extender = new RunningExtender(api, folder, "")) {
        extenders.add(local(extender.opsPort()));
        extender.client().filter(pod, NODE);
        assertThat(extender.client().bind(pod, "n1")).isEmpty();
        extender.client().filter(big, NODE);
        until(() -> store.find("ns", "p").filter(t -> t.contains("\"error\":\"\"")).isPresent());
        until(() -> store.find("ns", "big").isPresent());
      }
      // nobody but the controller remembers
      String master = "--master=" + api.url();
      VgpuRun story = VgpuRun.of("explain", "pod", "ns/p", master);
      assertThat(story.out())
          .contains("card       c1: 0 given, place 1 of 1")
          .contains("told by    vgpu-manager-controller-0");
      assertThat(VgpuRun.of("why-pending", "ns/big", master).out())
          .contains("1 Insufficient vGPU memory")
          .contains("no scheduler remembers this pod");

      // another extender decides of it anew, and is asked itself: it knows how the nodes are now
      try (RunningExtender second = new RunningExtender(api, folder, "")) {
        api.scheduler("vgpu-manager-scheduler-1", second.opsPort());
        assertThat(VgpuRun.of("why-pending", "ns/big", master).out())
            .contains("no scheduler remembers this pod");
        second.client().filter(big, NODE);
        assertThat(VgpuRun.of("why-pending", "ns/big", master).out())
            .contains("c1 vgpu-memory 23000 (asks 90000)");
      }
      // a pod of the same name that nobody has decided of
      api.delete("p");
      api.pod(
          "p",
          Pods.of(1, 10, 1000).request().demand(),
          Map.of(),
          o -> ((ObjectNode) o.get("metadata")).put("uid", "uid-other"));
      assertThat(VgpuRun.of("explain", "pod", "ns/p", master).out())
          .contains("decision   none")
          .contains("vgpu-manager-controller-0 knows of an earlier pod of that name only");
    }
  }

  @Test
  void goesOnWhereItWasAndBeginsAnewWithAnotherProcess() throws Exception {
    BlockingQueue<String> asked = new LinkedBlockingQueue<>();
    URI at =
        scripted(
            asked,
            path ->
                switch (path) {
                  case "/decisions/0" -> page("one", 2, true, "a", 1);
                  case "/decisions/2" -> page("one", 5, false, "b", 2);
                  default -> page("two", 9, false, "c", 3);
                });
    extenders.add(at);
    collect();
    assertThat(asked.take()).isEqualTo("/decisions/0");
    assertThat(asked.take()).as("the rest at once").isEqualTo("/decisions/2");
    assertThat(asked.take()).as("next round").isEqualTo("/decisions/5");
    assertThat(asked.take()).as("another process answered").isEqualTo("/decisions/0");
    until(() -> store.size() == 2);
    assertThat(store.find("ns", "a")).isPresent();
    assertThat(store.find("ns", "b")).isPresent();
  }

  @Test
  void anExtenderThatTellsNonsenseHindersNoOther() {
    BlockingQueue<String> asked = new LinkedBlockingQueue<>();
    extenders.add(local(1)); // nobody listens
    for (String nonsense :
        List.of(
            "{",
            "[]",
            "{\"instance\":\"x\"}",
            "{\"instance\":\"x\",\"last\":1,\"decisions\":[{\"filter\":{\"at\":\"noon\"}}]}",
            "\"" + "x".repeat(9 * 1024 * 1024) + "\"")) {
      extenders.add(scripted(new LinkedBlockingQueue<>(), path -> nonsense));
    }
    extenders.add(scripted(asked, path -> page("one", 1, false, "good", 1)));
    collect();
    until(() -> store.find("ns", "good").isPresent());
    until(() -> asked.size() >= 3); // and round after round
    assertThat(store.size()).isEqualTo(1);
  }

  private URI scripted(BlockingQueue<String> asked, Function<String, String> answer) {
    HttpServer server =
        get(
            vertx
                .createHttpServer()
                .requestHandler(
                    r -> {
                      asked.add(r.path());
                      r.response().end(answer.apply(r.path())).otherwiseEmpty();
                    })
                .listen(0, "127.0.0.1"));
    return local(server.actualPort());
  }

  private static String page(String instance, long last, boolean more, String pod, int second) {
    return "{\"instance\":\"%s\",\"last\":%d,\"more\":%b,\"decisions\":[{\"pod\":{\"namespace\":\"ns\",\"name\":\"%s\"},\"filter\":{\"at\":\"2026-01-01T00:00:0%dZ\"}}]}"
        .formatted(instance, last, more, pod, second);
  }
}
