package io.vgpu.claim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.vgpu.model.ContainerClaim;
import io.vgpu.model.CorePercent;
import io.vgpu.model.DeviceClaim;
import io.vgpu.model.GpuUuid;
import io.vgpu.model.MemoryMiB;
import io.vgpu.model.PodClaim;
import java.util.List;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ClaimCodecTest {
  private static DeviceClaim device(int index, String uuid, int cores, long memory) {
    return new DeviceClaim(index, new GpuUuid(uuid), new CorePercent(cores), new MemoryMiB(memory));
  }

  @Test
  void writesTheWorkedExamples() {
    assertThat(
            ClaimCodec.encode(
                new PodClaim(
                    List.of(
                        new ContainerClaim(
                            "main",
                            List.of(
                                device(
                                    0, "GPU-aaaaaaaa-0000-0000-0000-000000000000", 10, 1024)))))))
        .isEqualTo("main[0_GPU-aaaaaaaa-0000-0000-0000-000000000000_10_1024]");
    PodClaim three =
        new PodClaim(
            List.of(
                new ContainerClaim("init-a", List.of(device(1, "GPU-b", 0, 2048))),
                new ContainerClaim(
                    "main", List.of(device(0, "GPU-a", 10, 1024), device(1, "GPU-b", 10, 1024))),
                new ContainerClaim("side", List.of())));
    assertThat(ClaimCodec.encode(three))
        .isEqualTo("init-a[1_GPU-b_0_2048];main[0_GPU-a_10_1024,1_GPU-b_10_1024];side[]");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "c1[0_GPU-1_50_2048]",
        "init[0_GPU-1_80_8000];app[0_GPU-1_40_4000,1_GPU-2_40_4000]",
        "side[]"
      })
  void readsWhatItWrites(String text) {
    assertThat(ClaimCodec.encode(ClaimCodec.decode(text))).isEqualTo(text);
  }

  @Test
  void dropsSpacesAndSkipsEmptySegments() {
    assertThat(ClaimCodec.decode(" ;a[ 0_GPU-1_1_2 ,, 1_GPU-2_3_4,] ; ;b[];"))
        .isEqualTo(ClaimCodec.decode("a[0_GPU-1_1_2,1_GPU-2_3_4];b[]"));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "''|at least one container",
        ";;|at least one container",
        "main|must read name[devices]",
        "main[|must read name[devices]",
        "main]|must read name[devices]",
        "]main[|must read name[devices]",
        "main[0_GPU-1_1_2]x|must read name[devices]",
        "main[0_GPU-1_1_2]]|must read name[devices]",
        "[0_GPU-1_1_2]|container name",
        "Main[0_GPU-1_1_2]|container name \"Main\"",
        "main[0_GPU-1_1]|has 3",
        "main[0_GPU-1_1_2_3]|has 5",
        "main[x_GPU-1_1_2]|index \"x\"",
        "main[0_GPU-1_+1_2]|cores \"+1\"",
        "main[0_GPU-1_1_-2]|memory \"-2\"",
        "main[0_GPU-1_101_2]|cores 101",
        "main[0_GPU-1_1_99999999999999999999]|memory",
        "main[0__1_2]|GPU UUID",
        "main[1024_GPU-1_1_2]|device index 1024",
        "main[0_GPU-1_1_2,1_GPU-1_1_2]|claims card GPU-1 twice",
        "main[];main[]|names container main twice"
      })
  void refusesWithFieldValueAndRule(String text, String says) {
    assertThatThrownBy(() -> ClaimCodec.decode(text))
        .isInstanceOf(FormatException.class)
        .hasMessageContaining(says);
  }

  @Test
  void refusesMoreThanSixteenDevices() {
    StringBuilder text = new StringBuilder("main[");
    for (int i = 0; i < 17; i++) {
      text.append(i).append("_GPU-").append(i).append("_1_1,");
    }
    assertThatThrownBy(() -> ClaimCodec.decode(text.append(']').toString()))
        .hasMessageContaining("17 devices: at most 16");
  }

  @Property(tries = 300)
  void decodeUndoesEncode(@ForAll("claims") PodClaim claim) {
    assertThat(ClaimCodec.decode(ClaimCodec.encode(claim))).isEqualTo(claim);
  }

  /** Whatever is written there, reading ends in a claim or a FormatException. */
  @Property(tries = 2000)
  void anyTextIsReadOrRefused(@ForAll("texts") String text) {
    try {
      assertThat(ClaimCodec.decode(ClaimCodec.encode(ClaimCodec.decode(text))))
          .isEqualTo(ClaimCodec.decode(text));
    } catch (FormatException refused) {
      assertThat(refused).hasMessageMatching("(?s).+");
    }
  }

  @Provide
  Arbitrary<PodClaim> claims() {
    return ModelArbitraries.podClaims();
  }

  @Provide
  Arbitrary<String> texts() {
    Arbitrary<String> wild = Arbitraries.strings().ofMaxLength(60);
    Arbitrary<String> near = Arbitraries.strings().withChars("ab01_[],;- GPU").ofMaxLength(60);
    Arbitrary<String> cut =
        ModelArbitraries.podClaims()
            .map(ClaimCodec::encode)
            .flatMap(t -> Arbitraries.integers().between(0, t.length()).map(t::substring));
    return Arbitraries.oneOf(wild, near, cut);
  }
}
