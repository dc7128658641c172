package io.vgpu.claim;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.vgpu.model.ContainerClaim;
import io.vgpu.model.PodClaim;
import java.util.List;
import org.junit.jupiter.api.Test;

class ClaimSealTest {
  private static final byte[] KEY = "0123456789abcdef0123456789abcdef".getBytes(UTF_8);
  private static final byte[] OLD = "fedcba9876543210fedcba9876543210".getBytes(UTF_8);
  private final ClaimSeal seal = new ClaimSeal(List.of(KEY, OLD));
  private final PodClaim claim =
      ClaimCodec.decode("init[0_GPU-1_80_8000];app[0_GPU-1_40_4000,1_GPU-2_40_4000]");

  private ContainerClaim entry(String text) {
    return ClaimCodec.decode(text).containers().getFirst();
  }

  @Test
  void verifiesEachContainerOfWhatItSealed() {
    String text = seal.seal("uid-1", claim);
    for (ContainerClaim c : claim.containers()) {
      assertThat(seal.verify("uid-1", c, text)).isTrue();
    }
    assertThat(text).matches("init=[0-9a-f]{64};app=[0-9a-f]{64}");
  }

  /**
   * The value was computed with openssl: printf 'uid-1\nmain\nmain[0_GPU-1_10_1024]' | openssl dgst
   * -sha256 -hmac KEY.
   */
  @Test
  void coversUidContainerAndEntryAsTheDecisionSays() {
    assertThat(seal.seal("uid-1", ClaimCodec.decode("main[0_GPU-1_10_1024]")))
        .isEqualTo("main=58c33fdecdf0b14d2d03d4b9610e110f20b59ad5ff9b448390e92d8ab9b6bafc");
  }

  @Test
  void refusesEveryChange() {
    String text = seal.seal("uid-1", claim);
    ContainerClaim app = claim.containers().get(1);
    assertThat(seal.verify("uid-2", app, text)).as("another pod").isFalse();
    assertThat(seal.verify("uid-1", entry("app[0_GPU-1_41_4000,1_GPU-2_40_4000]"), text))
        .as("more cores")
        .isFalse();
    assertThat(seal.verify("uid-1", entry("app[0_GPU-3_40_4000,1_GPU-2_40_4000]"), text))
        .as("another card")
        .isFalse();
    assertThat(seal.verify("uid-1", entry("init[0_GPU-1_40_4000,1_GPU-2_40_4000]"), text))
        .as("another container")
        .isFalse();
    assertThat(seal.verify("uid-1", app, text.replace("app=", "app=0"))).as("longer hex").isFalse();
    assertThat(seal.verify("uid-1", app, "")).as("no seal").isFalse();
    assertThat(seal.verify("uid-1", app, text.toUpperCase(java.util.Locale.ROOT)))
        .as("upper case")
        .isFalse();
  }

  @Test
  void acceptsThePreviousKeyButSealsWithTheCurrent() {
    String old = new ClaimSeal(List.of(OLD)).seal("u", claim);
    assertThat(seal.verify("u", claim.containers().getFirst(), old)).isTrue();
    assertThat(
            new ClaimSeal(List.of(OLD))
                .verify("u", claim.containers().getFirst(), seal.seal("u", claim)))
        .isFalse();
  }

  @Test
  void refusesAShortOrMissingKey() {
    assertThatThrownBy(() -> ClaimSeal.parse("short\n"))
        .hasMessageContaining("claim key of 5 bytes");
    assertThatThrownBy(() -> ClaimSeal.parse("\n \n")).hasMessageContaining("at least one");
  }
}
