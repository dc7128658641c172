package io.vgpu.agent.shim;

import static org.assertj.core.api.Assertions.assertThat;

import io.vgpu.agent.gpu.FakeCards;
import io.vgpu.agent.gpu.GpuInventory;
import io.vgpu.agent.shim.DeviceLimits.Flag;
import io.vgpu.model.ComputePolicy;
import io.vgpu.model.ContainerClaim;
import io.vgpu.model.CorePercent;
import io.vgpu.model.DeviceClaim;
import io.vgpu.model.GpuUuid;
import io.vgpu.model.MemoryMiB;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Who becomes a client of MPS, with what part, on cards of which the second is partitioned. */
class MpsShareTest {
  private static final Set<GpuUuid> SECOND = Set.of(FakeCards.uuid(1));

  private static ContainerClaim claim(int cores, int... cards) {
    return new ContainerClaim(
        "main",
        IntStream.of(cards)
            .mapToObj(
                i ->
                    new DeviceClaim(
                        i, FakeCards.uuid(i), new CorePercent(cores), new MemoryMiB(1024)))
            .toList());
  }

  @ParameterizedTest
  @CsvSource({
    "132, fixed, 25, 25, true",
    "132, fixed, 2, 2, true", // 2.64
    "132, fixed, 1, 100, false", // 1.32: no pair
    "16, fixed, 12, 100, false", // 1.92
    "16, fixed, 13, 13, true", // 2.08
    "132, balance, 25, 25, true",
    "132, none, 25, 100, false",
    "132, fixed, 0, 100, false",
    "132, fixed, 100, 100, false",
    "0, fixed, 25, 100, false" // the driver does not tell how many there are
  })
  void aPartIsPromisedWhereItCanBeCounted(
      int smCount, String policy, int cores, int percent, boolean promised) {
    GpuInventory cards = FakeCards.of(2, smCount);
    ComputePolicy how = ComputePolicy.of(policy, "");
    assertThat(MpsShare.of(claim(cores, 1), cards, how, SECOND))
        .contains(new MpsShare(FakeCards.uuid(1), percent, promised));
    DeviceLimits limits = LimitsRule.of(claim(cores, 1), cards, how, SECOND).getFirst();
    assertThat(limits.flags().contains(Flag.MPS)).isEqualTo(promised);
    assertThat(limits.flags()).doesNotContain(Flag.BALANCE);
    if (how != ComputePolicy.NONE) {
      assertThat(limits.coreSoftPermille()).isEqualTo(limits.coreHardPermille());
    }
    assertThat(limits.smCount()).isEqualTo(smCount);
  }

  @Test
  void othersAreAsTheyWere() {
    GpuInventory cards = FakeCards.of(3, 132);
    ComputePolicy balance = ComputePolicy.BALANCE;
    assertThat(MpsShare.of(claim(25, 0), cards, balance, SECOND)).isEmpty();
    assertThat(LimitsRule.of(claim(25, 0), cards, balance, SECOND))
        .isEqualTo(LimitsRule.of(claim(25, 0), cards, balance, Set.of()));
  }

  @Test
  void withSeveralCardsNobodyIsAClientNorLentTimeOnThePartitionedOne() {
    GpuInventory cards = FakeCards.of(3, 132);
    ComputePolicy balance = ComputePolicy.BALANCE;
    assertThat(MpsShare.of(claim(25, 0, 1), cards, balance, SECOND)).isEqualTo(Optional.empty());
    List<DeviceLimits> limits = LimitsRule.of(claim(25, 0, 1), cards, balance, SECOND);
    assertThat(limits).allSatisfy(l -> assertThat(l.flags()).doesNotContain(Flag.MPS));
    assertThat(limits).extracting(DeviceLimits::coreSoftPermille).containsExactly(1000, 250);
  }
}
