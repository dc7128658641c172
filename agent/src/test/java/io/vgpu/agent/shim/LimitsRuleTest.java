package io.vgpu.agent.shim;

import static org.assertj.core.api.Assertions.assertThat;

import io.vgpu.agent.shim.DeviceLimits.Flag;
import io.vgpu.model.ComputePolicy;
import io.vgpu.model.CorePercent;
import io.vgpu.model.DeviceClaim;
import io.vgpu.model.GpuDevice;
import io.vgpu.model.GpuUuid;
import io.vgpu.model.MemoryMiB;
import io.vgpu.model.NodeConfig;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.DoubleRange;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.LongRange;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The worked rows of node-agent.md 14: a card with core 100 and memory 12288, a claim on index 1.
 */
class LimitsRuleTest {
  private static final GpuUuid CARD = new GpuUuid("GPU-b");

  record Row(
      String name,
      ComputePolicy policy,
      int cores,
      long memory,
      double scaling,
      Set<Flag> flags,
      long limit,
      long physical,
      int hard,
      int soft) {
    @Override
    public String toString() {
      return name;
    }
  }

  static Stream<Row> rows() {
    long gib = 1073741824L;
    return Stream.of(
        new Row(
            "fixed",
            ComputePolicy.FIXED,
            20,
            1024,
            1,
            Set.of(Flag.MEMORY_LIMIT, Flag.COMPUTE_LIMIT),
            gib,
            gib,
            200,
            200),
        new Row(
            "balance",
            ComputePolicy.BALANCE,
            20,
            1024,
            1,
            Set.of(Flag.MEMORY_LIMIT, Flag.COMPUTE_LIMIT, Flag.BALANCE),
            gib,
            gib,
            200,
            1000),
        new Row(
            "none",
            ComputePolicy.NONE,
            20,
            1024,
            1,
            Set.of(Flag.MEMORY_LIMIT),
            gib,
            gib,
            1000,
            1000),
        new Row(
            "fixed, cores 0",
            ComputePolicy.FIXED,
            0,
            1024,
            1,
            Set.of(Flag.MEMORY_LIMIT),
            gib,
            gib,
            1000,
            1000),
        new Row(
            "fixed, whole card",
            ComputePolicy.FIXED,
            100,
            12288,
            1,
            Set.of(),
            12884901888L,
            12884901888L,
            1000,
            1000),
        new Row(
            "fixed, scaling 2",
            ComputePolicy.FIXED,
            20,
            1024,
            2,
            Set.of(Flag.MEMORY_LIMIT, Flag.COMPUTE_LIMIT, Flag.OVERSUBSCRIBE),
            gib,
            536870912L,
            200,
            200),
        new Row(
            "whole published memory of a scaled card",
            ComputePolicy.FIXED,
            100,
            12288,
            2,
            Set.of(Flag.MEMORY_LIMIT, Flag.OVERSUBSCRIBE),
            12884901888L,
            6442450944L,
            1000,
            1000));
  }

  @ParameterizedTest
  @MethodSource("rows")
  void writesWhatTheSpecificationWorksOut(Row row) {
    DeviceLimits limits =
        LimitsRule.of(
            new DeviceClaim(1, CARD, new CorePercent(row.cores()), new MemoryMiB(row.memory())),
            card(12288),
            108,
            new NodeConfig(10, 1, 1, row.scaling()),
            row.policy());

    assertThat(limits)
        .isEqualTo(
            new DeviceLimits(
                CARD, 1, 108, row.flags(), row.limit(), row.physical(), row.hard(), row.soft()));
  }

  @Property
  void isAlwaysWithinTheCard(
      @ForAll ComputePolicy policy,
      @ForAll @IntRange(max = 100) int cores,
      @ForAll @LongRange(max = 1L << 42) long memory,
      @ForAll @DoubleRange(min = 0, max = 1000) double scaling) {
    DeviceLimits limits =
        LimitsRule.of(
            new DeviceClaim(1, CARD, new CorePercent(cores), new MemoryMiB(memory)),
            card(12288),
            0,
            new NodeConfig(10, 1, 1, scaling),
            policy);

    assertThat(limits.coreHardPermille()).isBetween(1, limits.coreSoftPermille());
    assertThat(limits.coreSoftPermille()).isLessThanOrEqualTo(1000);
    assertThat(limits.memPhysical()).isBetween(0L, limits.memLimit());
    assertThat(limits.flags().contains(Flag.COMPUTE_LIMIT))
        .isEqualTo(limits.coreHardPermille() < 1000);
  }

  private static GpuDevice card(long memory) {
    return new GpuDevice(
        1, "NVIDIA A10", CARD, 100, memory, 10, 0, false, "0000:3b:00.0", 8.6f, true);
  }

  static List<DeviceLimits> twoCards() {
    return List.of(
        new DeviceLimits(
            new GpuUuid("GPU-a"),
            0,
            108,
            Set.of(Flag.MEMORY_LIMIT),
            1L << 30,
            1L << 30,
            1000,
            1000),
        new DeviceLimits(
            CARD,
            3,
            108,
            Set.of(Flag.MEMORY_LIMIT, Flag.COMPUTE_LIMIT, Flag.BALANCE),
            2L << 30,
            1L << 30,
            250,
            1000));
  }
}
