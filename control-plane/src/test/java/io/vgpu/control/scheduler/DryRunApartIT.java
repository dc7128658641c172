package io.vgpu.control.scheduler;

import static org.assertj.core.api.Assertions.assertThat;

import io.vgpu.control.cluster.NodeRecord;
import io.vgpu.control.testing.FakeApiServer;
import io.vgpu.control.testing.Nodes;
import io.vgpu.control.testing.Pods;
import io.vgpu.control.testing.RunningExtender;
import io.vgpu.control.testing.SchedulerClient;
import io.vgpu.model.NodeConfig;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * The autoscaler asks about thousands of nodes at once. A live pod's filter, prioritize and bind
 * begin and end while one such question is being judged: shown by order, not by a clock.
 */
@Timeout(value = 180, unit = TimeUnit.SECONDS)
class DryRunApartIT {
  private static final int TEMPLATES = 4_000;
  private static final int TRIES = 20;
  private static final List<String> LIVE = List.of("n1");

  @TempDir Path folder;

  private static boolean judging() {
    return Thread.getAllStackTraces().values().stream()
        .flatMap(Arrays::stream)
        .anyMatch(frame -> frame.getClassName().endsWith(".DryRunVerb"));
  }

  @Test
  void aLivePodIsServedWhileADryRunIsBeingJudged() throws Exception {
    try (FakeApiServer api = new FakeApiServer();
        ExecutorService autoscaler = Executors.newVirtualThreadPerTaskExecutor()) {
      api.node(Nodes.record("n1", Nodes.u(16), NodeConfig.DEFAULT));
      try (RunningExtender extender = new RunningExtender(api, folder, "")) {
        SchedulerClient scheduler = extender.client();
        List<NodeRecord> templates =
            IntStream.range(0, TEMPLATES)
                .mapToObj(i -> Nodes.record("t" + i, Nodes.u(16), NodeConfig.DEFAULT))
                .toList();
        ObjectNode asked = api.pod("asked", Pods.of(16, 10, 1000).request().demand(), Map.of());
        Callable<JsonNode> question = () -> scheduler.dryRun(asked, templates);
        boolean within = false;
        for (int i = 0; i < TRIES && !within; i++) {
          ObjectNode live = api.pod("live" + i, Pods.of(1, 1, 10).request().demand(), Map.of());
          Future<JsonNode> dryRun = autoscaler.submit(question);
          while (!judging() && !dryRun.isDone()) {
            Thread.onSpinWait();
          }
          boolean began = !dryRun.isDone();
          assertThat(SchedulerClient.strings(scheduler.filter(live, LIVE).get("NodeNames")))
              .isEqualTo(LIVE);
          scheduler.prioritize(live, LIVE);
          assertThat(scheduler.bind(live, "n1")).isEmpty();
          // the same question is still being judged: nobody waited for its end
          within = began && !dryRun.isDone() && judging();
          assertThat(dryRun.get().path("Nodes").path("items").size()).isEqualTo(TEMPLATES);
        }
        assertThat(within).as("a live pod served within one dry run, of %s", TRIES).isTrue();
      }
    }
  }
}
