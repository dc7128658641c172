package io.vgpu.control.webhook;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;

/** Whatever body comes, there is an answer. */
class AdmissionFuzzTest {
  /** Broken, cut and doubled bodies: an answer each time, never an exception. */
  @Property(tries = 2000)
  void answersWhateverComes(@ForAll long seed) {
    Random random = new Random(seed);
    byte[] body = AdmissionTest.review("admission.k8s.io/v1", "20");
    for (int i = random.nextInt(6); i >= 0; i--) {
      body = broken(body, random);
    }
    for (String path : new String[] {"/pods/mutate", "/pods/validate", "/else"}) {
      assertThat(AdmissionTest.ADMISSION.answer(path, body).status()).isIn(200, 400, 404);
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
      case 2 -> copy = Arrays.copyOf(copy, at);
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
}
