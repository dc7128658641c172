package io.vgpu.e2e.product;

import java.util.List;
import java.util.Optional;

/**
 * How our parts are started.
 *
 * @param profile of the fake node, e.g. {@code 8xA100}
 * @param webhook whether the webhook runs; without it pods are admitted unmended
 * @param guard whether edits of our keys by others are refused by the API server
 * @param tamper a deliberate break of the agent's answers ({@code swapped-uuid}, {@code
 *     mount-missing}), if any
 * @param agentFlags added to the agent's command line
 * @param extenderFlags added to the extender's command line
 */
public record ProductConfig(
    String profile,
    boolean webhook,
    boolean guard,
    Optional<String> tamper,
    List<String> agentFlags,
    List<String> extenderFlags) {
  public static final ProductConfig DEFAULT =
      new ProductConfig("8xA100", true, true, Optional.empty(), List.of(), List.of());

  public ProductConfig {
    agentFlags = List.copyOf(agentFlags);
    extenderFlags = List.copyOf(extenderFlags);
  }

  public ProductConfig withoutWebhook() {
    return new ProductConfig(profile, false, guard, tamper, agentFlags, extenderFlags);
  }

  public ProductConfig withoutGuard() {
    return new ProductConfig(profile, webhook, false, tamper, agentFlags, extenderFlags);
  }

  public ProductConfig withProfile(String name) {
    return new ProductConfig(name, webhook, guard, tamper, agentFlags, extenderFlags);
  }

  public ProductConfig withAgentFlags(String... flags) {
    return new ProductConfig(profile, webhook, guard, tamper, List.of(flags), extenderFlags);
  }

  public ProductConfig withTamper(String word) {
    return new ProductConfig(profile, webhook, guard, Optional.of(word), agentFlags, extenderFlags);
  }

  public ProductConfig withExtenderFlags(List<String> flags) {
    return new ProductConfig(profile, webhook, guard, tamper, agentFlags, flags);
  }
}
