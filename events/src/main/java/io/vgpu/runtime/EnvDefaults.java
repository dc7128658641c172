package io.vgpu.runtime;

import java.util.Map;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.IDefaultValueProvider;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.OptionSpec;

/**
 * Documented environment variables as defaults of flags (D15): flag, then environment, then the
 * option's own default. Variables that no flag names are ignored, because Kubernetes injects its
 * own. The only reader of the environment.
 */
public final class EnvDefaults implements IDefaultValueProvider {
  /** Flag → variable: the names of node-agent.md 1.4 and control-plane.md 1.2. */
  public static final Map<String, String> VARIABLES =
      Map.ofEntries(
          Map.entry("--node-name", "NODE_NAME"),
          Map.entry("--cgroup-driver", "CGROUP_DRIVER"),
          Map.entry("--host-manager-dir", "HOST_MANAGER_DIR"),
          Map.entry("--imex-channel-ids", "IMEX_CHANNEL_IDS"),
          Map.entry("--imex-required", "IMEX_REQUIRED"),
          Map.entry("--gds-enabled", "GDS_ENABLED"),
          Map.entry("--mofed-enabled", "MOFED_ENABLED"),
          Map.entry("--gdrcopy-enabled", "GDRCOPY_ENABLED"),
          Map.entry("--host-driver-root", "NVIDIA_DRIVER_ROOT"),
          Map.entry("--container-driver-root", "DRIVER_ROOT_CTR_PATH"),
          Map.entry("--sysfs-root", "NVIDIA_DRA_SYSFS_ROOT"),
          Map.entry("--disable-health-checks", "DP_DISABLE_HEALTHCHECKS"),
          Map.entry("--enable-health-checks", "DP_ENABLE_HEALTHCHECKS"),
          Map.entry("--leader-identity-prefix", "POD_NAME"),
          Map.entry("--namespace", "POD_NAMESPACE"));

  private final UnaryOperator<@Nullable String> environment;

  public EnvDefaults() {
    this(System::getenv);
  }

  EnvDefaults(UnaryOperator<@Nullable String> environment) {
    this.environment = environment;
  }

  @Override
  public @Nullable String defaultValue(ArgSpec arg) {
    if (arg instanceof OptionSpec option) {
      String variable = VARIABLES.get(option.longestName());
      String value = variable == null ? null : environment.apply(variable);
      // an empty variable is how manifests say "not set"
      return value == null || value.isEmpty() ? null : value;
    }
    return null;
  }
}
