package io.vgpu.agent.kube;

import static org.assertj.core.api.Assertions.assertThat;

import io.vgpu.claim.Names;
import java.util.Map;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.CharRange;
import net.jqwik.api.constraints.StringLength;
import org.junit.jupiter.api.Test;

/** Nodes may be called by up to 253 characters, labels hold 63 (13-7, D19). */
class MetricsNodeTest {
  private static final Names NAMES = Names.DEFAULT;

  @Test
  void aNameThatFitsIsTheLabel() {
    String longest = "n".repeat(63);
    assertThat(MetricsNode.label(longest)).isEqualTo(longest);
    assertThat(MetricsNode.annotations(longest, NAMES)).isEmpty();
  }

  @Property
  void everyLongerOneHasALabelOfItsOwnAndIsWrittenOutBeside_13_7(
      @ForAll @StringLength(min = 64, max = 253) @CharRange(from = 'a', to = 'z') String name) {
    assertThat(MetricsNode.label(name)).matches("[a-z0-9]{1,63}");
    assertThat(MetricsNode.label(name)).isNotEqualTo(MetricsNode.label(name + "x"));
    assertThat(MetricsNode.annotations(name, NAMES)).isEqualTo(Map.of(NAMES.metricsNode(), name));
  }
}
