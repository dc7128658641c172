package io.vgpu.control.webhook;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.vgpu.claim.FormatException;
import io.vgpu.claim.Names;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/** The rules of control-plane.md 5.1, one row a case: pod before, pod after. */
class PodMutatorTest {
  private static final JsonMapper JSON = JsonMapper.shared();
  private static final PodDefaults DEFAULTS =
      PodDefaults.of("vgpu-scheduler", "binpack", "binpack", "numa", "nvidia");

  @ParameterizedTest(name = "{0}")
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      textBlock =
          """
          rule 1: cores alone mean one card   | vgpu-cores:20                   | vgpu-cores:20 vgpu-number:1
          rule 1: memory alone means one card | vgpu-memory:1024                | vgpu-memory:1024 vgpu-number:1
          rule 1: number written as 0         | vgpu-number:0 vgpu-cores:20     | vgpu-number:1 vgpu-cores:20
          rule 2: a card alone is whole       | vgpu-number:2                   | vgpu-number:2 vgpu-cores:100
          rule 2: cores written as 0          | vgpu-number:2 vgpu-cores:0      | vgpu-number:2 vgpu-cores:100
          rule 2: memory is enough            | vgpu-number:1 vgpu-memory:10    | vgpu-number:1 vgpu-memory:10
          nothing asked, nothing added        | cpu:1                           | cpu:1
          a request of nothing stays          | vgpu-number:0                   | vgpu-number:0
          a negative number is not mended     | vgpu-number:-1 vgpu-cores:5     | vgpu-number:-1 vgpu-cores:5
          """)
  void completesLimits(String name, String before, String after) {
    for (String list : new String[] {"containers", "initContainers"}) {
      ObjectNode mended =
          mutate(PodDefaults.NONE, pod("{\"" + list + "\":[" + container(before) + "]}", "{}"));
      assertThat(mended.path("spec").path(list).path(0).path("resources").path("limits"))
          .as(name + " in " + list)
          .isEqualTo(JSON.readTree(container(after)).path("resources").path("limits"));
    }
  }

  @Test
  void keepsARequestEqualToItsLimit() {
    ObjectNode mended =
        mutate(
            PodDefaults.NONE,
            pod(
                """
                {"containers":[{"name":"c","resources":{
                  "limits":{"nvidia.com/vgpu-number":"1","nvidia.com/vgpu-cores":"0"},
                  "requests":{"nvidia.com/vgpu-number":"1","nvidia.com/vgpu-cores":"0"}}}]}""",
                "{}"));
    assertThat(mended.at("/spec/containers/0/resources/requests/nvidia.com~1vgpu-cores").asString())
        .isEqualTo("100");
  }

  @Test
  void takesAwayOutputKeysAndLeavesTheUsersInputs() {
    ObjectNode mended =
        mutate(
            PodDefaults.NONE,
            pod(
                "{\"containers\":[]}",
                """
                {"annotations":{"nvidia.com/pre-allocated":"x","nvidia.com/claim-hmac":"x",
                  "nvidia.com/real-allocated":"x","nvidia.com/predicate-node":"x",
                  "nvidia.com/predicate-time":"x","nvidia.com/metrics-node":"x",
                  "nvidia.com/node-scheduler-policy":"spread","nvidia.com/include-gpu-type":"A10",
                  "nvidia.com/vgpu-compute-policy":"none","other":"kept"},
                 "labels":{"nvidia.com/assigned-phase":"failed","nvidia.com/metrics-node":"n1","app":"a"}}"""));
    assertThat(mended.path("metadata"))
        .isEqualTo(
            JSON.readTree(
                """
                {"annotations":{"nvidia.com/node-scheduler-policy":"spread","nvidia.com/include-gpu-type":"A10",
                  "nvidia.com/vgpu-compute-policy":"none","other":"kept"},
                 "labels":{"app":"a"}}"""));
  }

  @ParameterizedTest(name = "scheduler {0} becomes {1}")
  @CsvSource({"'',vgpu-scheduler", "default-scheduler,vgpu-scheduler", "foo,foo"})
  void givesTheSchedulerToPodsThatNameNone(String before, String after) {
    String scheduler = before.isEmpty() ? "" : "\"schedulerName\":\"" + before + "\",";
    ObjectNode mended =
        mutate(
            DEFAULTS,
            pod("{" + scheduler + "\"containers\":[" + container("vgpu-number:1") + "]}", "{}"));
    assertThat(mended.at("/spec/schedulerName").asString()).isEqualTo(after);
  }

  @Test
  void fillsInPoliciesTopologyAndRuntimeClassWhereAbsent() {
    ObjectNode mended =
        mutate(
            DEFAULTS,
            pod("{\"containers\":[" + container("vgpu-number:2 vgpu-cores:10") + "]}", "{}"));
    assertThat(mended.path("metadata").path("annotations"))
        .isEqualTo(
            JSON.readTree(
                """
                {"nvidia.com/node-scheduler-policy":"binpack","nvidia.com/device-scheduler-policy":"binpack",
                 "nvidia.com/device-topology-mode":"numa"}"""));
    assertThat(mended.at("/spec/runtimeClassName").asString()).isEqualTo("nvidia");
  }

  @Test
  void leavesWhatThePodSays() {
    ObjectNode pod =
        pod(
            "{\"schedulerName\":\"mine\",\"runtimeClassName\":\"other\",\"containers\":["
                + container("vgpu-number:2 vgpu-cores:10")
                + "]}",
            """
            {"annotations":{"nvidia.com/node-scheduler-policy":"none","nvidia.com/device-scheduler-policy":"",
             "nvidia.com/device-topology-mode":"link"}}""");
    assertThat(new PodMutator(Names.DEFAULT, DEFAULTS).mutate(pod)).isEmpty();
  }

  @Test
  void oneCardNeedsNoTopologyMode() {
    ObjectNode mended =
        mutate(DEFAULTS, pod("{\"containers\":[" + container("vgpu-number:1") + "]}", "{}"));
    assertThat(mended.at("/metadata/annotations").has("nvidia.com/device-topology-mode")).isFalse();
  }

  @ParameterizedTest(name = "{0}: led through the scheduler {2}")
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          vGPU pod                       | "containers":[{"name":"c","resources":{"limits":{"nvidia.com/vgpu-number":"1"}}}] | true
          pod with resource claims       | "resourceClaims":[{"name":"x"}],"containers":[{"name":"c"}]                     | true
          another extended resource      | "containers":[{"name":"c","resources":{"limits":{"example.com/dev":"1"}}}]      | true
          extended resource of 0         | "containers":[{"name":"c","resources":{"limits":{"example.com/dev":"0"}}}]      | false
          no device at all               | "containers":[{"name":"c","resources":{"limits":{"cpu":"1"}}}]                  | false
          """)
  void leadsPodsWithAFixedNodeThroughTheScheduler(String name, String spec, boolean led) {
    ObjectNode mended = mutate(PodDefaults.NONE, pod("{\"nodeName\":\"n1\"," + spec + "}", "{}"));
    assertThat(mended.at("/spec/nodeName").asString("")).isEqualTo(led ? "" : "n1");
    assertThat(mended.at("/spec/nodeSelector/kubernetes.io~1hostname").asString(""))
        .isEqualTo(led ? "n1" : "");
  }

  @Test
  void leavesMirrorPodsAlone() {
    ObjectNode pod =
        pod(
            "{\"nodeName\":\"n1\",\"containers\":[" + container("vgpu-number:1") + "]}",
            "{\"annotations\":{\"kubernetes.io/config.mirror\":\"h\"}}");
    assertThat(new PodMutator(Names.DEFAULT, DEFAULTS).mutate(pod)).isEmpty();
  }

  @Test
  void followsTheDomain() {
    ObjectNode mended =
        JsonPatches.apply(
            pod("{\"containers\":[]}", "{\"annotations\":{\"a.b/pre-allocated\":\"x\"}}"),
            new PodMutator(new Names("a.b"), DEFAULTS)
                .mutate(
                    pod("{\"containers\":[]}", "{\"annotations\":{\"a.b/pre-allocated\":\"x\"}}")));
    assertThat(mended.at("/metadata/annotations").isEmpty()).isTrue();
  }

  @ParameterizedTest(name = "{0} must be a quantity")
  @CsvSource({"abc", "''", "1e999999999", "0x10", "--1", ".", "e2", "-E2", ".e1", "2e"})
  void namesAFieldOfWrongForm(String amount) {
    ObjectNode pod =
        pod(
            "{\"containers\":[{\"name\":\"c\",\"resources\":{\"limits\":{\"nvidia.com/vgpu-number\":\""
                + amount
                + "\"}}}]}",
            "{}");
    assertThatThrownBy(() -> new PodMutator(Names.DEFAULT, DEFAULTS).mutate(pod))
        .isInstanceOf(FormatException.class)
        .hasMessageContaining("spec.containers[0].resources.limits[nvidia.com/vgpu-number]");
  }

  private static ObjectNode mutate(PodDefaults defaults, ObjectNode pod) {
    return JsonPatches.apply(pod, new PodMutator(Names.DEFAULT, defaults).mutate(pod));
  }

  private static ObjectNode pod(String spec, String metadata) {
    return (ObjectNode) JSON.readTree("{\"metadata\":" + metadata + ",\"spec\":" + spec + "}");
  }

  /** {@code vgpu-number:1 cpu:2} as a container with those limits. */
  private static String container(String limits) {
    ObjectNode container = JSON.createObjectNode().put("name", "c");
    ObjectNode amounts = container.putObject("resources").putObject("limits");
    for (String limit : limits.strip().split(" +", -1)) {
      String[] pair = limit.split(":", -1);
      amounts.put(pair[0].startsWith("vgpu") ? "nvidia.com/" + pair[0] : pair[0], pair[1]);
    }
    return container.toString();
  }
}
