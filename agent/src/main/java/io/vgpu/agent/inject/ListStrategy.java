package io.vgpu.agent.inject;

import java.util.Arrays;
import java.util.Collection;
import java.util.Optional;

/** How a container's runtime learns its cards (node-agent.md 2.8); any combination is allowed. */
public enum ListStrategy {
  ENVVAR("envvar", false),
  VOLUME_MOUNTS("volume-mounts", false),
  CDI_ANNOTATIONS("cdi-annotations", true),
  CDI_CRI("cdi-cri", true);

  private final String word;
  private final boolean cdi;

  ListStrategy(String word, boolean cdi) {
    this.word = word;
    this.cdi = cdi;
  }

  /** The word of flags and files. */
  public String word() {
    return word;
  }

  /** Whether the runtime injects by CDI specs. */
  public boolean cdi() {
    return cdi;
  }

  /** The strategy with this word. */
  public static Optional<ListStrategy> of(String word) {
    return Arrays.stream(values()).filter(s -> s.word.equals(word)).findFirst();
  }

  /** Whether everything that a container gets comes from CDI specs. */
  public static boolean onlyCdi(Collection<ListStrategy> strategies) {
    return strategies.stream().allMatch(ListStrategy::cdi);
  }

  /** Whether CDI specs are needed at all. */
  public static boolean anyCdi(Collection<ListStrategy> strategies) {
    return strategies.stream().anyMatch(ListStrategy::cdi);
  }
}
