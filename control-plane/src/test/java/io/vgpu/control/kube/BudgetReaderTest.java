package io.vgpu.control.kube;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.LabelSelector;
import io.fabric8.kubernetes.api.model.LabelSelectorBuilder;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.vgpu.control.cluster.Budget;
import io.vgpu.control.cluster.PodRecord;
import io.vgpu.control.testing.Pods;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Whom a budget selects differs between its versions where the selector is empty. */
class BudgetReaderTest {
  private static final ObjectMeta META =
      new ObjectMetaBuilder().withNamespace("ns").withName("b").build();

  private static boolean now(@Nullable LabelSelector selector) {
    return protects(
        BudgetReader.read(
            new io.fabric8.kubernetes.api.model.policy.v1.PodDisruptionBudgetBuilder()
                .withMetadata(META)
                .withNewSpec()
                .withSelector(selector)
                .endSpec()
                .build()));
  }

  private static boolean before(@Nullable LabelSelector selector) {
    return protects(
        BudgetReader.read(
            new io.fabric8.kubernetes.api.model.policy.v1beta1.PodDisruptionBudgetBuilder()
                .withMetadata(META)
                .withNewSpec()
                .withSelector(selector)
                .endSpec()
                .build()));
  }

  private static boolean protects(Budget budget) {
    return budget.protects(
        new PodRecord(Pods.of(1, 10, 10).request(), "n1", false, false, null, null));
  }

  @Test
  void anEmptySelectorSelectsAllNowAndNothingBefore() {
    assertThat(now(new LabelSelector())).isTrue();
    assertThat(before(new LabelSelector())).isFalse();
    assertThat(now(null)).isFalse();
    assertThat(before(null)).isFalse();
    LabelSelector without =
        new LabelSelectorBuilder()
            .addNewMatchExpression()
            .withKey("app")
            .withOperator("DoesNotExist")
            .endMatchExpression()
            .build();
    assertThat(now(without)).isTrue();
    assertThat(before(without)).isTrue();
  }
}
