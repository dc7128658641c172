package io.vgpu.agent;

import io.vgpu.agent.health.HealthRules;
import io.vgpu.claim.Names;
import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Flags of every sub-command of the agent (node-agent.md 3.2, 3.3, D21). */
final class CommonFlags {
  @Option(
      names = "--kubeconfig",
      paramLabel = "FILE",
      description = "how to reach the API server; none: as a pod in the cluster")
  @Nullable Path kubeconfig;

  @Option(
      names = "--master",
      paramLabel = "URL",
      description = "address of the API server, instead of the kubeconfig's")
  @Nullable String master;

  @Option(
      names = "--kube-api-qps",
      description =
          "marks of pods a second; what is asked while a pod is admitted waits for nothing, events have a bucket of their own")
  int kubeApiQps = 20;

  @Option(names = "--kube-api-burst", description = "marks of pods at once")
  int kubeApiBurst = 30;

  @Option(
      names = "--kube-timeout",
      description = "seconds an API request may take; 0: the client's default")
  int kubeTimeout;

  @Option(names = "--domain", description = "prefix of our resources, annotations and labels")
  String domain = Names.DEFAULT_DOMAIN;

  @Option(names = "--node-name", description = "name of this node (environment: NODE_NAME)")
  String nodeName = "";

  @Option(
      names = "--cgroup-driver",
      description =
          "accepted: systemd or cgroupfs; has no effect, since each process's own cgroup tells")
  String cgroupDriver = "";

  @Option(
      names = "--node-config-path",
      paramLabel = "FILE",
      description =
          "settings by node name, .json or .yaml; a field in it replaces the flag. Followed while the agent runs")
  @Nullable Path nodeConfigPath;

  @Option(
      names = "--pprof-bind-port",
      description = "must stay 0: profiles are taken with the JVM's own tools")
  int pprofBindPort;

  @Option(
      names = "--container-driver-root",
      description = "where the host's driver is mounted (environment: DRIVER_ROOT_CTR_PATH)")
  Path containerDriverRoot = Path.of("/driver-root");

  @Option(
      names = "--sysfs-root",
      description = "where NUMA nodes of PCI slots are read (environment: NVIDIA_DRA_SYSFS_ROOT)")
  Path sysfsRoot = Path.of("/sys");

  @Option(
      names = "--card-sample-interval",
      description = "how often a card's own utilisation is read")
  Duration cardSampleInterval = Duration.ofMillis(200);

  @Option(
      names = "--disable-health-checks",
      description =
          "critical errors (XIDs) to ignore besides those of applications, or all (environment: DP_DISABLE_HEALTHCHECKS)")
  String disableHealthChecks = "";

  @Option(
      names = "--enable-health-checks",
      description =
          "critical errors (XIDs) never to ignore, or all (environment: DP_ENABLE_HEALTHCHECKS)")
  String enableHealthChecks = "";

  @Option(
      names = "--health-grace",
      description = "how long calls on a card may fail or not return before it is unhealthy")
  Duration healthGrace = HealthRules.DEFAULT.grace();

  @Option(
      names = "--health-quiet",
      description = "how long nothing may speak against an unhealthy card before it is tried again")
  Duration healthQuiet = HealthRules.DEFAULT.quiet();

  @Option(
      names = "--health-probe",
      description =
          "how long a card must answer before it is given out again; doubled with each relapse within an hour")
  Duration healthProbe = HealthRules.DEFAULT.probe();

  @Option(
      names = "--ops-bind-address",
      description =
          "address of /healthz, /readyz and /metrics, such as the pod's own; every interface (0.0.0.0) only when asked for")
  String opsBindAddress = "127.0.0.1";

  @Option(
      names = {"--ops-bind-port", "--server-bind-port"},
      description = "port of /healthz, /readyz and /metrics")
  int opsBindPort = 3458;

  @Option(
      names = "--feature-gates",
      paramLabel = "A=true,B=false",
      description = "gates to switch, as Name=true,Other=false")
  String featureGates = "";

  @Option(names = "--v", description = "verbosity of the log, as klog's")
  int verbosity;
}
