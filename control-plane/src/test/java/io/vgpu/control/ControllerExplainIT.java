package io.vgpu.control;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.vertx.core.Vertx;
import io.vgpu.claim.Names;
import io.vgpu.control.metrics.ControllerMeters;
import io.vgpu.control.reschedule.kube.ControllerApi;
import io.vgpu.control.testing.FakeApiServer;
import io.vgpu.control.testing.Nodes;
import io.vgpu.control.testing.ObjectApiServer;
import io.vgpu.control.testing.Pods;
import io.vgpu.control.testing.RunningExtender;
import io.vgpu.model.NodeConfig;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/**
 * The leader finds the extenders' pods and tells what they decided; who does not lead knows
 * nothing.
 */
@Timeout(value = 120, unit = TimeUnit.SECONDS)
class ControllerExplainIT {
  private static final String PODS = "/api/v1/namespaces/kube-system/pods";

  @TempDir Path folder;

  @Test
  void theLeaderCollectsFromThePodsThatTheApiServerNames() throws Exception {
    PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    Vertx vertx = Vertx.vertx();
    try (FakeApiServer cluster = new FakeApiServer();
        ObjectApiServer api = new ObjectApiServer();
        RunningExtender extender = new RunningExtender(cluster, folder, "")) {
      cluster.node(Nodes.record("n1", Nodes.u(1), NodeConfig.DEFAULT));
      extender
          .client()
          .filter(
              cluster.pod("p", Pods.of(1, 10, 1000).request().demand(), Map.of()), List.of("n1"));
      api.put(PODS, pod("vgpu-manager-scheduler-0", "127.0.0.1"));
      api.put(PODS, pod("vgpu-manager-scheduler-starting", ""));
      api.put(PODS, pod("kube-proxy", "127.0.0.2"));
      ControllerApi access =
          new ControllerApi(
              null,
              api.url(),
              Duration.ofSeconds(5),
              Names.DEFAULT,
              "copies",
              Duration.ofMinutes(5),
              registry);
      Controller controller =
          new Controller(
              vertx,
              access,
              new ControllerMeters(registry),
              () -> access.extenders("kube-system", extender.opsPort()));
      assertThat(controller.explained("/explain/ns/p").result()).isEmpty();
      controller.start();
      while (controller.explained("/explain/ns/p").result().isEmpty()) {
        Thread.onSpinWait();
      }
      assertThat(controller.explained("/explain/ns/p").result().orElseThrow())
          .contains("\"uid\":\"uid-p\"");
      assertThat(controller.explained("/explain/ns").result()).isEmpty();
      assertThat(registry.scrape()).contains("vgpu_controller_explanations 1.0");
      controller.stop().toCompletionStage().toCompletableFuture().get(20, TimeUnit.SECONDS);
      access.close();
    } finally {
      vertx.close().toCompletionStage().toCompletableFuture().get(20, TimeUnit.SECONDS);
    }
  }

  private static ObjectNode pod(String name, String ip) {
    ObjectNode pod = JsonMapper.shared().createObjectNode();
    pod.put("apiVersion", "v1").put("kind", "Pod");
    pod.putObject("metadata").put("name", name).put("namespace", "kube-system");
    pod.putObject("status").put("podIP", ip);
    return pod;
  }
}
