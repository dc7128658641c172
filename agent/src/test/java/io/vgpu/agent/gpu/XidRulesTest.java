package io.vgpu.agent.gpu;

import static org.assertj.core.api.Assertions.assertThat;

import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;

class XidRulesTest {
  @Test
  void nothingSetIgnoresTheApplicationsErrors() {
    XidRules rules = XidRules.parse("", "");
    assertThat(rules.ignored()).containsExactlyInAnyOrder(13, 31, 43, 45, 68, 109);
    assertThat(rules.counts(79)).isTrue();
    assertThat(rules.counts(31)).isFalse();
  }

  @Test
  void disablingAddsToTheIgnored() {
    assertThat(XidRules.parse("68,67", "").ignored())
        .containsExactlyInAnyOrder(13, 31, 43, 45, 67, 68, 109);
  }

  @Test
  void enablingWinsOverBothLists() {
    assertThat(XidRules.parse("", "68").counts(68)).isTrue();
    assertThat(XidRules.parse("79", "79").counts(79)).isTrue();
    assertThat(XidRules.parse("", "all").ignored()).isEmpty();
  }

  @Test
  void disablingAllEndsTheCheckWhateverIsEnabled() {
    assertThat(XidRules.parse("all", "79").watching()).isFalse();
    assertThat(XidRules.parse("1,xids", "").watching()).isFalse();
    assertThat(XidRules.parse("all", "79").counts(79)).isFalse();
  }

  @Test
  void malformedItemsAreSkipped() {
    assertThat(XidRules.parse(" 67 ,abc,,-3,99999999999", "x").ignored())
        .containsExactlyInAnyOrder(13, 31, 43, 45, 67, 68, 109);
  }

  @Property
  void anyTextIsRead(@ForAll String disable, @ForAll String enable) {
    assertThat(XidRules.parse(disable, enable).ignored()).isNotNull();
  }
}
