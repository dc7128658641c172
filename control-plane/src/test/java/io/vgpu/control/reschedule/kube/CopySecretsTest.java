package io.vgpu.control.reschedule.kube;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.api.model.SecretBuilder;
import io.vgpu.control.reschedule.StoredCopy;
import io.vgpu.model.PodRef;
import java.time.Instant;
import org.junit.jupiter.api.Test;

class CopySecretsTest {
  private static final StoredCopy COPY =
      new StoredCopy(
          new PodRef("ns", "a-very.long-name", "1234-5678"),
          "42",
          "{\"spec\":\"ä€\"}",
          Instant.parse("2026-01-02T03:04:05.678Z"));

  @Test
  void readsWhatItWrote() {
    Secret secret = CopySecrets.encode(COPY, "copies");
    assertThat(secret.getMetadata().getName()).isEqualTo("vgpu-copy-1234-5678");
    assertThat(secret.getMetadata().getLabels().get(CopySecrets.OF_NAME_LABEL))
        .isEqualTo(CopySecrets.ofName("ns", "a-very.long-name"))
        .hasSizeLessThanOrEqualTo(63);
    assertThat(CopySecrets.decode(secret)).contains(COPY);
  }

  @Test
  void takesNothingForACopyThatIsNotWhole() {
    Secret secret = CopySecrets.encode(COPY, "copies");
    assertThat(CopySecrets.decode(new SecretBuilder(secret).withData(null).build())).isEmpty();
    assertThat(
            CopySecrets.decode(
                new SecretBuilder(secret).addToData("pod.json.gz", "bm90IGd6aXA=").build()))
        .isEmpty();
    assertThat(
            CopySecrets.decode(
                new SecretBuilder(secret)
                    .editMetadata()
                    .removeFromAnnotations("vgpu-manager.io/since")
                    .endMetadata()
                    .build()))
        .isEmpty();
  }
}
