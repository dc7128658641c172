package io.vgpu.control.webhook;

import static org.assertj.core.api.Assertions.assertThat;

import io.vgpu.claim.Names;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

class AdmissionTest {
  private static final JsonMapper JSON = JsonMapper.shared();
  static final Admission ADMISSION =
      new Admission(
          new PodMutator(Names.DEFAULT, PodDefaults.of("vgpu-scheduler", "", "", "", "")),
          new PodValidator(Names.DEFAULT, Set.of()));
  static final String REVIEW =
      """
      {"kind":"AdmissionReview","apiVersion":"VERSION","request":{"uid":"0df28fbd-5f5f",
       "kind":{"group":"","version":"v1","kind":"Pod"},"resource":{"group":"","version":"v1","resource":"pods"},
       "operation":"CREATE","userInfo":{"username":"alice"},"dryRun":false,
       "object":{"metadata":{"name":"p","annotations":{"nvidia.com/pre-allocated":"forged"}},
        "spec":{"containers":[{"name":"c","resources":{"limits":{"nvidia.com/vgpu-cores":"CORES"}}}]}}}}
      """;

  @ParameterizedTest
  @ValueSource(strings = {"admission.k8s.io/v1", "admission.k8s.io/v1beta1"})
  void answersInTheVersionOfTheQuestion(String version) {
    Admission.Reply reply = ADMISSION.answer("/pods/mutate", review(version, "20"));
    assertThat(reply.status()).isEqualTo(200);
    assertThat(reply.outcome()).isEqualTo("mended");
    JsonNode answer = JSON.readTree(reply.body());
    assertThat(answer.path("apiVersion").asString()).isEqualTo(version);
    assertThat(answer.path("kind").asString()).isEqualTo("AdmissionReview");
    assertThat(answer.at("/response/uid").asString()).isEqualTo("0df28fbd-5f5f");
    assertThat(answer.at("/response/allowed").asBoolean()).isTrue();
    assertThat(answer.at("/response/patchType").asString()).isEqualTo("JSONPatch");
    assertThat(JSON.readTree(Base64.getDecoder().decode(answer.at("/response/patch").asString())))
        .isEqualTo(
            JSON.readTree(
                """
                [{"op":"add","path":"/spec/containers/0/resources/limits/nvidia.com~1vgpu-number","value":"1"},
                 {"op":"remove","path":"/metadata/annotations/nvidia.com~1pre-allocated"},
                 {"op":"add","path":"/spec/schedulerName","value":"vgpu-scheduler"}]"""));
  }

  @Test
  void deniesWithAStatusThatSaysWhy() {
    Admission.Reply reply =
        ADMISSION.answer("/pods/validate", review("admission.k8s.io/v1", "101"));
    JsonNode response = JSON.readTree(reply.body()).path("response");
    assertThat(response.path("allowed").asBoolean()).isFalse();
    assertThat(response.at("/status/code").asInt()).isEqualTo(422);
    assertThat(response.at("/status/message").asString()).contains("vGPU core exceeding limit");
  }

  @Test
  void deniesAPodOfWrongFormByItsField() {
    Admission.Reply reply = ADMISSION.answer("/pods/mutate", review("admission.k8s.io/v1", "many"));
    assertThat(JSON.readTree(reply.body()).at("/response/status/message").asString())
        .contains("nvidia.com/vgpu-cores")
        .contains("many");
  }

  @ParameterizedTest(name = "{1}")
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      textBlock =
          """
          ``                                                         | empty body
          `{`                                                        | the body is not the JSON of an AdmissionReview
          `[]`                                                       | an AdmissionReview must be a JSON object
          `{} {}`                                                    | the body is not the JSON of an AdmissionReview
          `{}`                                                       | apiVersion "": must be one of
          `{"apiVersion":"admission.k8s.io/v2"}`                     | apiVersion "admission.k8s.io/v2": must be one of
          `{"apiVersion":"admission.k8s.io/v1"}`                     | request: must be an object
          `{"apiVersion":"admission.k8s.io/v1","request":{}}`        | request field uid: must be a non-empty text
          `{"apiVersion":"admission.k8s.io/v1","request":{"uid":"u","operation":"CREATE","resource":{"resource":"pods"},"object":[]}}` | request.object: must be an object
          """)
  void answers400WithTheFaultOfTheBody(String body, String message) {
    Admission.Reply reply = ADMISSION.answer("/pods/mutate", body.getBytes(StandardCharsets.UTF_8));
    assertThat(reply.status()).isEqualTo(400);
    assertThat(new String(reply.body(), StandardCharsets.UTF_8)).startsWith(message);
  }

  @Test
  void boundsTheDepthOfABody() {
    String deep = "{\"a\":".repeat(5000);
    assertThat(ADMISSION.answer("/pods/mutate", deep.getBytes(StandardCharsets.UTF_8)).status())
        .isEqualTo(400);
  }

  static byte[] review(String version, String cores) {
    return REVIEW
        .replace("VERSION", version)
        .replace("CORES", cores)
        .getBytes(StandardCharsets.UTF_8);
  }
}
