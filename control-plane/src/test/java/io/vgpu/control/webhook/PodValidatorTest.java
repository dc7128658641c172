package io.vgpu.control.webhook;

import static org.assertj.core.api.Assertions.assertThat;

import io.vgpu.claim.Names;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

class PodValidatorTest {
  private static final JsonMapper JSON = JsonMapper.shared();
  private static final String AGENT = "system:serviceaccount:kube-system:vgpu-manager-agent";
  private static final PodValidator VALIDATOR = new PodValidator(Names.DEFAULT, Set.of(AGENT));

  @ParameterizedTest(name = "{0}/{1}/{2}: {3}")
  @CsvSource(
      delimiter = '|',
      nullValues = "-",
      textBlock =
          """
          1  | 10  | 1024 | -
          16 | 100 | 0    | -
          0  | 0   | 0    | -
          1  | 101 | 0    | container c requests vGPU core exceeding limit
          17 | 0   | 0    | container c requests vGPU number exceeding limit
          -1 | 0   | 0    | container c requests vgpu-number -1: must not be negative
          0  | 10  | 0    | container c requests vgpu-cores or vgpu-memory without vgpu-number
          9223372036854775807000 | 1 | 1 | container c requests vGPU number exceeding limit
          1  | 1   | 9223372036854775807 | container c requests vGPU memory exceeding limit
          """)
  void checksRequestsWithTheWordsOfTheFilter(
      String number, String cores, String memory, String message) {
    Verdict verdict =
        VALIDATOR.validate(
            review("CREATE", "pods", "", "alice", limits(number, cores, memory), "null"));
    if (message == null) {
      assertThat(verdict).isEqualTo(Verdict.UNTOUCHED);
    } else {
      assertThat(verdict)
          .isInstanceOfSatisfying(
              Verdict.Denied.class,
              denied -> {
                assertThat(denied.code()).isEqualTo(422);
                assertThat(denied.message()).startsWith(message);
              });
    }
  }

  @Test
  void refusesAnAppThatAsksForLessThanItsInitContainer() {
    String pod =
        """
        {"spec":{"initContainers":[{"name":"i","resources":{"limits":{"nvidia.com/vgpu-number":"2"}}}],
                 "containers":[{"name":"c","resources":{"limits":{"nvidia.com/vgpu-number":"1"}}}]}}""";
    assertThat(VALIDATOR.validate(review("CREATE", "pods", "", "alice", pod, "null")))
        .isInstanceOfSatisfying(
            Verdict.Denied.class,
            d ->
                assertThat(d.message())
                    .startsWith(
                        "an app container after an init container of 2 must ask for at least 2"));
  }

  @ParameterizedTest(name = "{0} of {1}/{2} by {3}: denied {6}")
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          UPDATE | pods     |         | alice | annotations nvidia.com/pre-allocated=b | annotations nvidia.com/pre-allocated=a | true
          UPDATE | pods     | status  | alice | annotations nvidia.com/claim-hmac=b    | annotations x=y                        | true
          UPDATE | pods     |         | alice | annotations x=y                        | annotations nvidia.com/real-allocated=a| true
          UPDATE | pods     |         | alice | labels nvidia.com/assigned-phase=failed| labels x=y                             | true
          UPDATE | pods     |         | alice | annotations nvidia.com/metrics-node=m  | annotations x=y                        | true
          UPDATE | pods     |         | agent | labels nvidia.com/assigned-phase=failed| labels x=y                             | false
          UPDATE | pods     | status  | system:node:n1 | annotations nvidia.com/pre-allocated=a | annotations nvidia.com/pre-allocated=a | false
          UPDATE | pods     |         | alice | annotations nvidia.com/include-gpu-type=b | annotations x=y                     | false
          CREATE | pods     | binding | alice | annotations nvidia.com/pre-allocated=b | -                                      | true
          CREATE | bindings |         | alice | annotations nvidia.com/predicate-node=b| -                                      | true
          CREATE | pods     | binding | alice | annotations x=y                        | -                                      | false
          CREATE | pods     | binding | agent | annotations nvidia.com/pre-allocated=b | -                                      | false
          CREATE | pods     |         | alice | annotations nvidia.com/pre-allocated=b | -                                      | true
          UPDATE | services |         | alice | annotations nvidia.com/pre-allocated=b | annotations x=y                        | false
          """)
  void guardsOurKeys(
      String operation,
      String resource,
      String sub,
      String who,
      String now,
      String old,
      boolean denied) {
    Verdict verdict =
        VALIDATOR.validate(
            review(
                operation,
                resource,
                sub == null ? "" : sub,
                who.equals("agent") ? AGENT : who,
                metadata(now),
                old.equals("-") ? "null" : metadata(old)));
    assertThat(verdict instanceof Verdict.Denied).isEqualTo(denied);
    if (verdict instanceof Verdict.Denied refused) {
      assertThat(refused.code()).isEqualTo(403);
      assertThat(refused.message()).contains("nvidia.com/").endsWith(", not alice");
    }
  }

  @Test
  void leavesDeletionsAlone() {
    assertThat(VALIDATOR.validate(review("DELETE", "pods", "", "alice", "null", "{}")))
        .isEqualTo(Verdict.UNTOUCHED);
  }

  private static String limits(String number, String cores, String memory) {
    return "{\"spec\":{\"containers\":[{\"name\":\"c\",\"resources\":{\"limits\":{"
        + "\"nvidia.com/vgpu-number\":\""
        + number
        + "\",\"nvidia.com/vgpu-cores\":\""
        + cores
        + "\",\"nvidia.com/vgpu-memory\":\""
        + memory
        + "\"}}}]}}";
  }

  private static String metadata(String text) {
    String[] kindAndPair = text.strip().split(" ", -1);
    String[] pair = kindAndPair[1].split("=", -1);
    return "{\"metadata\":{\"" + kindAndPair[0] + "\":{\"" + pair[0] + "\":\"" + pair[1] + "\"}}}";
  }

  static AdmissionRequest review(
      String operation, String resource, String sub, String user, String object, String old) {
    return new AdmissionRequest(
        "admission.k8s.io/v1", "u", operation, "", resource, sub, user, node(object), node(old));
  }

  private static JsonNode node(String json) {
    JsonNode node = JSON.readTree(json);
    return node.isNull() ? JSON.missingNode() : node;
  }
}
