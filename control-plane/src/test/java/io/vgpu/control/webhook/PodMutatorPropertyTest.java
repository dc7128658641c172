package io.vgpu.control.webhook;

import static org.assertj.core.api.Assertions.assertThat;

import io.vgpu.claim.Names;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** What holds for every pod, also for pods with fields that nobody knows yet. */
class PodMutatorPropertyTest {
  private static final JsonMapper JSON = JsonMapper.shared();
  private static final Names NAMES = Names.DEFAULT;
  private static final PodMutator MUTATOR =
      new PodMutator(NAMES, PodDefaults.of("vgpu-scheduler", "spread", "binpack", "link", "rc"));

  @Property(tries = 500)
  void aSecondRunChangesNothing(@ForAll("pods") ObjectNode pod) {
    ObjectNode once = JsonPatches.apply(pod, MUTATOR.mutate(pod));
    assertThat(MUTATOR.mutate(once)).isEmpty();
  }

  @Property(tries = 500)
  void whatIsNotOursStaysAsItWas(@ForAll("pods") ObjectNode pod) {
    ObjectNode before = pod.deepCopy();
    ObjectNode mended = JsonPatches.apply(pod, MUTATOR.mutate(pod));
    assertThat(pod).as("the given object is only read").isEqualTo(before);
    assertThat(strangers(mended)).isEqualTo(strangers(pod));
  }

  @Property(tries = 500)
  void noOutputKeySurvives(@ForAll("pods") ObjectNode pod) {
    JsonNode metadata = JsonPatches.apply(pod, MUTATOR.mutate(pod)).path("metadata");
    assertThat(NAMES.outputAnnotations()).noneMatch(metadata.path("annotations")::has);
    assertThat(NAMES.outputLabels()).noneMatch(metadata.path("labels")::has);
  }

  /** Every leaf that no rule may touch, by its path. */
  private static Map<String, String> strangers(JsonNode pod) {
    Map<String, String> leaves = new TreeMap<>();
    Set<String> ours = new TreeSet<>(NAMES.outputAnnotations());
    ours.addAll(NAMES.outputLabels());
    ours.addAll(
        List.of(
            NAMES.nodeSchedulerPolicy(),
            NAMES.deviceSchedulerPolicy(),
            NAMES.deviceTopologyMode(),
            NAMES.vgpuNumber(),
            NAMES.vgpuCores(),
            "schedulerName",
            "runtimeClassName",
            "nodeName",
            "kubernetes.io/hostname"));
    walk("", pod, ours, leaves);
    return leaves;
  }

  private static void walk(
      String path, JsonNode node, Set<String> ours, Map<String, String> leaves) {
    if (node instanceof ObjectNode object) {
      object
          .properties()
          .forEach(
              e -> {
                if (!ours.contains(e.getKey())) {
                  walk(path + "/" + e.getKey(), e.getValue(), ours, leaves);
                }
              });
    } else if (node instanceof ArrayNode array) {
      for (int i = 0; i < array.size(); i++) {
        walk(path + "/" + i, array.get(i), ours, leaves);
      }
    } else if (!node.isNull()) {
      leaves.put(path, node.toString());
    }
  }

  @Provide
  Arbitrary<ObjectNode> pods() {
    return Combinators.combine(
            keys(NAMES.outputAnnotations(), List.of(NAMES.nodeSchedulerPolicy(), "a~/b", "x")),
            keys(NAMES.outputLabels(), List.of("app")),
            containers(),
            containers(),
            Arbitraries.of("", "default-scheduler", "own"),
            Arbitraries.of("", "n1"),
            Arbitraries.of(
                "{}",
                "{\"newer\":{\"deep\":[1,2.50,{\"k\":null}],\"big\":123456789012345678901234567890}}"))
        .as(PodMutatorPropertyTest::pod);
  }

  private static ObjectNode pod(
      Map<String, String> annotations,
      Map<String, String> labels,
      List<ObjectNode> inits,
      List<ObjectNode> apps,
      String scheduler,
      String node,
      String stranger) {
    ObjectNode pod = JSON.createObjectNode();
    ObjectNode metadata = pod.putObject("metadata");
    put(metadata, "annotations", annotations);
    put(metadata, "labels", labels);
    ObjectNode spec = pod.putObject("spec");
    spec.set("stranger", JSON.readTree(stranger));
    if (!inits.isEmpty()) {
      spec.putArray("initContainers").addAll(inits);
    }
    spec.putArray("containers").addAll(apps);
    if (!scheduler.isEmpty()) {
      spec.put("schedulerName", scheduler);
    }
    if (!node.isEmpty()) {
      spec.put("nodeName", node);
    }
    return pod;
  }

  private static void put(ObjectNode parent, String field, Map<String, String> values) {
    if (values.size() % 3 == 1) {
      parent.putNull(field); // as some clients write "nothing"
    } else if (!values.isEmpty()) {
      ObjectNode object = parent.putObject(field);
      values.forEach(object::put);
    }
  }

  private static Arbitrary<Map<String, String>> keys(List<String> ours, List<String> theirs) {
    Arbitrary<String> key = Arbitraries.oneOf(Arbitraries.of(ours), Arbitraries.of(theirs));
    return Arbitraries.maps(key, Arbitraries.of("", "binpack", "x")).ofMaxSize(6);
  }

  private static Arbitrary<List<ObjectNode>> containers() {
    Arbitrary<Map<String, String>> limits =
        Arbitraries.maps(
                Arbitraries.of(
                    NAMES.vgpuNumber(), NAMES.vgpuCores(), NAMES.vgpuMemory(), "cpu", "a.b/dev"),
                Arbitraries.of("0", "1", "2", "100", "5k"))
            .ofMaxSize(4);
    return Combinators.combine(limits, Arbitraries.of(true, false))
        .as(
            (amounts, withRequests) -> {
              ObjectNode container = JSON.createObjectNode().put("name", "c");
              put(container.putObject("resources"), "limits", amounts);
              if (withRequests && container.path("resources").path("limits").isObject()) {
                container
                    .withObject("/resources")
                    .set("requests", container.path("resources").path("limits").deepCopy());
              }
              container.put("newField", 7);
              return container;
            })
        .list()
        .ofMaxSize(3);
  }
}
