package io.vgpu.control.cluster;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * An include and an exclude list on one attribute of a card (control-plane.md 2.3): entries are
 * substrings, case ignored; an absent list does not constrain; both apply, so exclude wins.
 */
public record NameFilter(List<String> include, List<String> exclude) {
  public static final NameFilter NONE = new NameFilter(List.of(), List.of());

  public NameFilter {
    include = List.copyOf(include);
    exclude = List.copyOf(exclude);
  }

  /** From the texts of the two annotations; a list without a usable entry counts as absent. */
  public static NameFilter of(@Nullable String include, @Nullable String exclude) {
    return new NameFilter(entries(include), entries(exclude));
  }

  private static List<String> entries(@Nullable String text) {
    return text == null
        ? List.of()
        : Arrays.stream(text.toUpperCase(Locale.ROOT).split(",", -1))
            .map(String::strip)
            .filter(e -> !e.isEmpty())
            .toList();
  }

  /** Whether neither list has an entry. */
  public boolean isEmpty() {
    return include.isEmpty() && exclude.isEmpty();
  }

  /** Whether a card with this attribute may be used. */
  public boolean accepts(String attribute) {
    if (isEmpty()) {
      return true;
    }
    String value = attribute.strip().toUpperCase(Locale.ROOT);
    return (include.isEmpty() || include.stream().anyMatch(value::contains))
        && exclude.stream().noneMatch(value::contains);
  }
}
