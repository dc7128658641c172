package io.vgpu.control.webhook;

import static org.assertj.core.api.Assertions.assertThat;

import io.vgpu.claim.Names;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Random;
import java.util.Set;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

class AdmissionTest {
  private static final JsonMapper JSON = JsonMapper.shared();
  private static final Admission ADMISSION =
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

  /** Broken, cut and doubled bodies: an answer each time, never an exception. */
  @Property(tries = 2000)
  void answersWhateverComes(@ForAll long seed) {
    Random random = new Random(seed);
    byte[] body = review("admission.k8s.io/v1", "20");
    for (int i = random.nextInt(6); i >= 0; i--) {
      body = broken(body, random);
    }
    for (String path : new String[] {"/pods/mutate", "/pods/validate", "/else"}) {
      assertThat(ADMISSION.answer(path, body).status()).isIn(200, 400, 404);
    }
  }

  private static byte[] broken(byte[] body, Random random) {
    if (body.length == 0) {
      return body;
    }
    byte[] copy = body.clone();
    int at = random.nextInt(copy.length);
    switch (random.nextInt(4)) {
      case 0 -> copy[at] = (byte) random.nextInt(256);
      case 1 -> copy[at] = (byte) "{}[]\",:0-en/~".charAt(random.nextInt(13));
      case 2 -> copy = java.util.Arrays.copyOf(copy, at);
      default -> {
        // a value replaced by one of another kind
        String text = new String(copy, StandardCharsets.UTF_8);
        String[] values = {"null", "[]", "{}", "-1", "\"\"", "true", "1e99"};
        String[] targets = {"\"c\"", "\"20\"", "\"p\"", "\"forged\"", "\"pods\"", "\"CREATE\""};
        copy =
            text.replace(
                    targets[random.nextInt(targets.length)], values[random.nextInt(values.length)])
                .getBytes(StandardCharsets.UTF_8);
      }
    }
    return copy;
  }

  static byte[] review(String version, String cores) {
    return REVIEW
        .replace("VERSION", version)
        .replace("CORES", cores)
        .getBytes(StandardCharsets.UTF_8);
  }
}
