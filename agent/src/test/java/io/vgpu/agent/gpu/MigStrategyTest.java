package io.vgpu.agent.gpu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.vgpu.agent.gpu.GpuInventory.Card;
import io.vgpu.agent.gpu.PhysicalGpu.MigDevice;
import io.vgpu.model.GpuUuid;
import io.vgpu.runtime.UsageException;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class MigStrategyTest {
  private static final MigDevice SMALL =
      new MigDevice(new GpuUuid("MIG-1"), "1g.5gb", 1, 0, 14, 4864);
  private static final MigDevice BIG =
      new MigDevice(new GpuUuid("MIG-2"), "3g.20gb", 2, 0, 42, 19968);

  private static Card card(boolean mig, boolean healthy, MigDevice... slices) {
    return new Card(
        new PhysicalGpu(
            0,
            0,
            new GpuUuid("GPU-a"),
            "NVIDIA A100",
            40L << 30,
            "0000:01:00.0",
            0,
            8.0f,
            108,
            mig,
            List.of(slices)),
        healthy,
        "",
        Set.of());
  }

  private static void refused(String why, Card... cards) {
    assertThatThrownBy(() -> MigStrategy.SINGLE.check(List.of(cards)))
        .isInstanceOf(UsageException.class)
        .hasMessageContaining("--mig-strategy: \"single\"")
        .hasMessageContaining(why);
  }

  @Test
  void singleIsOneKindOfSliceAndNothingElse() {
    refused("in MIG mode has no slices", card(true, true));
    refused("the node has no slices, so there is nothing to serve", card(false, true));
    refused("must all be of one kind", card(true, true, SMALL, BIG));
    MigDevice smaller = new MigDevice(new GpuUuid("MIG-3"), "1g.5gb", 1, 0, 16, 4864);
    refused("must all be of one kind", card(true, true, SMALL), card(true, true, smaller));
    refused("is not in MIG mode", card(true, true, SMALL), card(false, true));
    assertThatCode(
            () -> MigStrategy.SINGLE.check(List.of(card(true, true, SMALL), card(false, false))))
        .as("a sick card does not hinder")
        .doesNotThrowAnyException();
  }

  @Test
  void theOthersOnlyWarn() {
    for (MigStrategy strategy : List.of(MigStrategy.NONE, MigStrategy.MIXED)) {
      assertThatCode(
              () ->
                  strategy.check(
                      List.of(card(true, true), card(true, true, SMALL, BIG), card(false, true))))
          .doesNotThrowAnyException();
    }
  }

  @Test
  void isKnownByItsWord() {
    assertThat(MigStrategy.of("single")).contains(MigStrategy.SINGLE);
    assertThat(MigStrategy.of("SINGLE")).isEmpty();
  }
}
