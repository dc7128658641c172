package io.vgpu.control.kube;

import io.fabric8.kubernetes.api.model.LabelSelector;
import io.fabric8.kubernetes.api.model.LabelSelectorRequirement;
import io.fabric8.kubernetes.api.model.ObjectMeta;
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
    return read(
        budget.getMetadata(),
        budget.getSpec() == null ? null : budget.getSpec().getSelector(),
        status == null ? null : status.getDisruptionsAllowed(),
        status == null ? null : status.getDisruptedPods());
  }

  /** In this version an empty selector selects nothing, as none does. */
  static Budget read(io.fabric8.kubernetes.api.model.policy.v1beta1.PodDisruptionBudget budget) {
    var status = budget.getStatus();
    LabelSelector selector = budget.getSpec() == null ? null : budget.getSpec().getSelector();
    boolean empty =
        selector != null
            && labels(selector.getMatchLabels()).isEmpty()
            && selector.getMatchExpressions().isEmpty();
    return read(
        budget.getMetadata(),
        empty ? null : selector,
        status == null ? null : status.getDisruptionsAllowed(),
        status == null ? null : status.getDisruptedPods());
  }

  private static Budget read(
      ObjectMeta meta,
      @Nullable LabelSelector selector,
      @Nullable Integer allowed,
      @Nullable Map<String, String> disrupted) {
    List<Requirement> requirements = new ArrayList<>();
    boolean known = selector != null && requirements(selector, requirements);
    return new Budget(
        meta.getNamespace(),
        meta.getName(),
        requirements,
        // without a selector it selects nothing, with an empty one everything
        !known,
        allowed == null ? 0 : allowed,
        disrupted == null ? Set.of() : disrupted.keySet(),
        meta.getDeletionTimestamp() != null);
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
