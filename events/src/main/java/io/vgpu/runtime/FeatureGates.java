package io.vgpu.runtime;

import java.util.Arrays;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * The values of one component's gates, from {@code --feature-gates=A=true,B=false}; the last
 * mention of a gate wins.
 */
public final class FeatureGates<G extends Enum<G> & FeatureGate> {
  private final Map<G, Boolean> values;

  private FeatureGates(Map<G, Boolean> values) {
    this.values = values;
  }

  /**
   * Reads the flag; throws {@link UsageException} with {@code unrecognized feature gate: NAME}
   * (U45) and the nearest known.
   */
  public static <G extends Enum<G> & FeatureGate> FeatureGates<G> parse(
      Class<G> gates, String text) {
    Map<String, Boolean> given = new LinkedHashMap<>();
    for (String item : text.split(",", -1)) {
      if (item.isBlank()) {
        continue;
      }
      String[] pair = item.strip().split("=", 2);
      String name = pair[0].strip();
      String value = pair.length == 2 ? pair[1].strip().toLowerCase(Locale.ROOT) : "";
      checkKnown(gates, name);
      if (!value.equals("true") && !value.equals("false")) {
        throw new UsageException(
            "feature gate " + name + ": value \"" + value + "\" must be true or false");
      }
      given.put(name, value.equals("true"));
    }
    Map<G, Boolean> values = new EnumMap<>(gates);
    for (G gate : gates.getEnumConstants()) {
      Boolean ofStage = given.get(gate.stage() == FeatureGate.Stage.ALPHA ? "AllAlpha" : "AllBeta");
      Boolean own = given.get(gate.gateName());
      values.put(gate, own != null ? own : ofStage != null ? ofStage : gate.onByDefault());
    }
    return new FeatureGates<>(values);
  }

  private static <G extends Enum<G> & FeatureGate> void checkKnown(Class<G> gates, String name) {
    List<String> known =
        Arrays.stream(gates.getEnumConstants())
            .map(FeatureGate::gateName)
            .collect(Collectors.toList());
    known.add("AllAlpha");
    known.add("AllBeta");
    if (!known.contains(name)) {
      Optional<String> near = Nearest.closest(name, known);
      throw new UsageException(
          "unrecognized feature gate: "
              + name
              + " (nearest known: "
              + near.orElse("none")
              + "; all: "
              + String.join(", ", known)
              + ")");
    }
  }

  /** Whether a gate is on. */
  public boolean on(G gate) {
    return Boolean.TRUE.equals(values.get(gate));
  }

  @Override
  public String toString() {
    return values.entrySet().stream()
        .map(e -> e.getKey().gateName() + "=" + e.getValue())
        .collect(Collectors.joining(","));
  }
}
