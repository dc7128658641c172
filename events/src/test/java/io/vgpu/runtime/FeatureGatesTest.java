package io.vgpu.runtime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class FeatureGatesTest {
  private enum Gate implements FeatureGate {
    HONOR("HonorPreAllocatedDeviceIDs", true),
    CORES("GPUCoreResourcePlugin", false);

    private final String gateName;
    private final boolean on;

    Gate(String gateName, boolean on) {
      this.gateName = gateName;
      this.on = on;
    }

    @Override
    public String gateName() {
      return gateName;
    }

    @Override
    public Stage stage() {
      return Stage.ALPHA;
    }

    @Override
    public boolean onByDefault() {
      return on;
    }

    @Override
    public String effect() {
      return "for the test";
    }
  }

  @Test
  void defaultsHoldUntilNamed() {
    FeatureGates<Gate> none = FeatureGates.parse(Gate.class, "");
    assertThat(none.on(Gate.HONOR)).isTrue();
    assertThat(none.on(Gate.CORES)).isFalse();
    FeatureGates<Gate> both =
        FeatureGates.parse(
            Gate.class, " HonorPreAllocatedDeviceIDs=False, GPUCoreResourcePlugin=true");
    assertThat(both.on(Gate.HONOR)).isFalse();
    assertThat(both.on(Gate.CORES)).isTrue();
  }

  @Test
  void aGateNamedByItselfWinsOverItsStage() {
    FeatureGates<Gate> gates =
        FeatureGates.parse(Gate.class, "HonorPreAllocatedDeviceIDs=true,AllAlpha=false");
    assertThat(gates.on(Gate.HONOR)).isTrue();
    assertThat(FeatureGates.parse(Gate.class, "AllAlpha=true").on(Gate.CORES)).isTrue();
  }

  @Test
  void anUnknownGateIsFatalAndNamesTheNearest() {
    assertThatThrownBy(() -> FeatureGates.parse(Gate.class, "HonourPreAllocatedDeviceIDs=true"))
        .isInstanceOf(UsageException.class)
        .hasMessageStartingWith("unrecognized feature gate: HonourPreAllocatedDeviceIDs")
        .hasMessageContaining("nearest known: HonorPreAllocatedDeviceIDs");
  }

  @Test
  void aValueThatIsNoBooleanIsFatal() {
    assertThatThrownBy(() -> FeatureGates.parse(Gate.class, "GPUCoreResourcePlugin=yes"))
        .hasMessage("feature gate GPUCoreResourcePlugin: value \"yes\" must be true or false");
    assertThatThrownBy(() -> FeatureGates.parse(Gate.class, "GPUCoreResourcePlugin"))
        .hasMessageContaining("value \"\"");
  }
}
