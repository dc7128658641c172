package io.vgpu.control.kube;

import io.fabric8.kubernetes.api.model.LabelSelector;
import io.fabric8.kubernetes.api.model.LabelSelectorRequirement;
import io.fabric8.kubernetes.api.model.policy.v1.PodDisruptionBudget;
import io.fabric8.kubernetes.api.model.policy.v1.PodDisruptionBudgetStatus;
import io.vgpu.control.cluster.Budget;
import io.vgpu.control.cluster.Budget.Operator;
import io.vgpu.control.cluster.Budget.Requirement;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Takes from disruption budgets what preemption looks at. Pure. */
final class BudgetReader {
  private BudgetReader() {}

  static Budget read(PodDisruptionBudget budget) {
    PodDisruptionBudgetStatus status = budget.getStatus();
    LabelSelector selector = budget.getSpec() == null ? null : budget.getSpec().getSelector();
    List<Requirement> requirements = new ArrayList<>();
    boolean known = selector != null && requirements(selector, requirements);
    return new Budget(
        budget.getMetadata().getNamespace(),
        budget.getMetadata().getName(),
        requirements,
        // without a selector it selects nothing, with an empty one everything
        selector == null || !known,
        status == null || status.getDisruptionsAllowed() == null
            ? 0
            : status.getDisruptionsAllowed(),
        status == null || status.getDisruptedPods() == null
            ? Set.of()
            : status.getDisruptedPods().keySet(),
        budget.getMetadata().getDeletionTimestamp() != null);
  }

  /** False when an operator is unknown: the API server lets none through. */
  private static boolean requirements(LabelSelector selector, List<Requirement> to) {
    labels(selector.getMatchLabels())
        .forEach((key, value) -> to.add(new Requirement(key, Operator.IN, Set.of(value))));
    for (LabelSelectorRequirement r : selector.getMatchExpressions()) {
      Optional<Operator> operator = operator(r.getOperator());
      if (operator.isEmpty()) {
        return false;
      }
      Set<String> values = r.getValues() == null ? Set.of() : Set.copyOf(r.getValues());
      to.add(new Requirement(r.getKey(), operator.get(), values));
    }
    return true;
  }

  private static Map<String, String> labels(@Nullable Map<String, String> labels) {
    return labels == null ? Map.of() : labels;
  }

  private static Optional<Operator> operator(String word) {
    return switch (word) {
      case "In" -> Optional.of(Operator.IN);
      case "NotIn" -> Optional.of(Operator.NOT_IN);
      case "Exists" -> Optional.of(Operator.EXISTS);
      case "DoesNotExist" -> Optional.of(Operator.DOES_NOT_EXIST);
      default -> Optional.empty();
    };
  }
}
