package io.vgpu.control.cluster;

import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * A PodDisruptionBudget, as far as preemption looks at it (control-plane.md 4.2).
 *
 * @param disrupted names of pods that it has counted already
 */
public record Budget(
    String namespace,
    String name,
    List<Requirement> selector,
    boolean selectsNothing,
    int disruptionsAllowed,
    Set<String> disrupted,
    boolean deleting) {
  /** One requirement on a label. */
  public record Requirement(String key, Operator operator, Set<String> values) {
    public Requirement {
      values = Set.copyOf(values);
    }

    boolean holds(Map<String, String> labels) {
      String value = labels.get(key);
      return switch (operator) {
        case IN -> value != null && values.contains(value);
        case NOT_IN -> value == null || !values.contains(value);
        case EXISTS -> value != null;
        case DOES_NOT_EXIST -> value == null;
      };
    }
  }

  /** What is required of a label. */
  public enum Operator {
    IN,
    NOT_IN,
    EXISTS,
    DOES_NOT_EXIST
  }

  public Budget {
    selector = List.copyOf(selector);
    disrupted = Set.copyOf(disrupted);
  }

  /** Whether it forbids to disrupt this pod now. */
  public boolean protects(PodRecord pod) {
    return !deleting
        && !selectsNothing
        && disruptionsAllowed <= 0
        && namespace.equals(pod.request().pod().namespace())
        && !disrupted.contains(pod.request().pod().name())
        && selector.stream().allMatch(r -> r.holds(pod.request().traits().labels()));
  }
}
