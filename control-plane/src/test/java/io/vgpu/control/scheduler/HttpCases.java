package io.vgpu.control.scheduler;

import static org.assertj.core.api.Assertions.assertThat;

import io.vgpu.claim.ClaimCodec;
import io.vgpu.claim.Names;
import io.vgpu.control.cluster.NodeRecord;
import io.vgpu.control.testing.FakeApiServer;
import io.vgpu.control.testing.FakeObjects;
import io.vgpu.control.testing.RunningExtender;
import io.vgpu.control.testing.SchedulerClient;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** Cases that speak with a running extender, as kube-scheduler and the autoscaler do. */
final class HttpCases {
  private static final Duration PATIENCE = Duration.ofSeconds(20);

  private final CaseNodes nodes;
  private final Path folder;

  HttpCases(CaseNodes nodes, Path folder) {
    this.nodes = nodes;
    this.folder = folder;
  }

  void run(JsonNode words) throws Exception {
    try (FakeApiServer api = new FakeApiServer()) {
      words
          .get("world")
          .properties()
          .forEach(e -> api.node(fixture(e.getKey(), e.getValue().asString())));
      try (RunningExtender extender = new RunningExtender(api, folder, "")) {
        for (JsonNode step : words.get("steps")) {
          new Step(api, extender.client(), step).run();
        }
      }
    }
  }

  private NodeRecord fixture(String name, String fixture) {
    return nodes.record(name, ExtenderJson.JSON.createObjectNode().put("on", fixture));
  }

  private static void await(BooleanSupplier condition, String what) {
    long end = System.nanoTime() + PATIENCE.toNanos();
    while (!condition.getAsBoolean()) {
      assertThat(System.nanoTime() - end).as("in time: %s", what).isNegative();
      Thread.onSpinWait();
    }
  }

  private final class Step {
    private final FakeApiServer api;
    private final SchedulerClient client;
    private final JsonNode words;

    Step(FakeApiServer api, SchedulerClient client, JsonNode words) {
      this.api = api;
      this.client = client;
      this.words = words;
    }

    void run() throws Exception {
      Map.Entry<String, JsonNode> first = words.properties().iterator().next();
      String pod = first.getValue().asString();
      switch (first.getKey()) {
        case "create" ->
            api.pod(pod, CaseNodes.pod(words).request(pod).demand(), CaseNodes.annotations(words));
        case "filter" -> filtered(client.filter(api.read(pod), strings(words.get("on"))));
        case "prioritize" ->
            prioritized(client.prioritize(api.read(pod), strings(words.get("on"))));
        case "bind" -> bind(pod);
        case "bound" -> bound(pod);
        case "unwritten" -> {
          assertThat(api.read(pod).path("spec").has("nodeName")).isFalse();
          assertThat(FakeObjects.annotations(api.read(pod)).keySet())
              .doesNotContainAnyElementsOf(Names.DEFAULT.outputAnnotations());
        }
        case "event" -> await(() -> events(pod).contains(words.get("says").asString()), "event");
        case "silent" -> assertThat(events(pod)).isEmpty();
        case "dryrun" -> filtered(dryRun(pod));
        default -> throw new AssertionError("no such step: " + first.getKey());
      }
    }

    private void filtered(JsonNode answer) {
      if (words.has("error")) {
        String expected = words.get("error").asString();
        assertThat(answer.get("Error").asString()).startsWith(expected);
        if (!expected.isEmpty()) {
          return;
        }
      } else {
        assertThat(answer.get("Error").asString()).isEmpty();
      }
      List<String> fits =
          answer.get("Nodes").isNull()
              ? SchedulerClient.strings(answer.get("NodeNames"))
              : answer
                  .get("Nodes")
                  .get("items")
                  .valueStream()
                  .map(n -> n.path("metadata").path("name").asString())
                  .toList();
      assertThat(fits).isEqualTo(strings(words.get("fits")));
      if (words.has("failed")) {
        assertThat(answer.get("FailedNodes")).isEqualTo(words.get("failed"));
      }
    }

    private void prioritized(Map<String, Integer> scores) {
      Map<String, Integer> expected = new TreeMap<>();
      words.get("scores").properties().forEach(e -> expected.put(e.getKey(), e.getValue().asInt()));
      assertThat(scores).isEqualTo(expected);
    }

    private void bind(String pod) throws Exception {
      String uid = words.path("uid").asString("uid-" + pod);
      assertThat(client.bind(pod, uid, words.get("to").asString()))
          .isEqualTo(words.path("error").asString(""));
    }

    private void bound(String pod) {
      ObjectNode now = api.read(pod);
      Map<String, String> annotations = FakeObjects.annotations(now);
      assertThat(now.path("spec").path("nodeName").asString())
          .isEqualTo(words.get("to").asString());
      assertThat(annotations)
          .containsEntry(Names.DEFAULT.predicateNode(), words.get("to").asString())
          .containsKeys(Names.DEFAULT.predicateTime(), Names.DEFAULT.claimHmac());
      String text = annotations.getOrDefault(Names.DEFAULT.preAllocated(), "");
      assertThat(PlanCases.text(ClaimCodec.decode(text))).isEqualTo(words.get("claim").asString());
    }

    private String events(String pod) {
      return api.events().stream()
          .filter(e -> e.path("involvedObject").path("name").asString().equals(pod))
          .map(e -> e.path("reason").asString() + ": " + e.path("message").asString())
          .collect(Collectors.joining("\n"));
    }

    private JsonNode dryRun(String pod) throws Exception {
      List<NodeRecord> full = new ArrayList<>();
      words
          .get("on")
          .properties()
          .forEach(e -> full.add(fixture(e.getKey(), e.getValue().asString())));
      return client.dryRun(api.read(pod), full);
    }
  }

  private static List<String> strings(JsonNode list) {
    return SchedulerClient.strings(list);
  }
}
