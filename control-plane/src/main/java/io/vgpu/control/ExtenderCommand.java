package io.vgpu.control;

import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vgpu.claim.Names;
import io.vgpu.control.scheduler.ExtenderConfig;
import io.vgpu.control.scheduler.ExtenderGate;
import io.vgpu.control.scheduler.SchedulerExtender;
import io.vgpu.model.PlacementPolicy;
import io.vgpu.runtime.FeatureGates;
import io.vgpu.runtime.Logging;
import io.vgpu.runtime.UsageException;
import io.vgpu.runtime.Version;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * {@code vgpu-control-plane scheduler-extender}: stands beside kube-scheduler, answers whoever
 * leads (D12).
 */
@Command(
    name = "scheduler-extender",
    description =
        "Chooses nodes and cards for kube-scheduler and commits each choice with the bind.",
    mixinStandardHelpOptions = true,
    versionProvider = Version.class)
public final class ExtenderCommand implements Callable<Integer> {
  private static final Logger log = LoggerFactory.getLogger(ExtenderCommand.class);

  @Mixin ApiFlags api = new ApiFlags();

  @Option(
      names = "--kube-api-qps",
      defaultValue = "200",
      description = "requests a second to the API server; events have a bucket of their own")
  int qps;

  @Option(names = "--kube-api-burst", defaultValue = "400", description = "requests at once")
  int burst;

  @Option(
      names = "--scheduler-name",
      defaultValue = Names.SCHEDULER_NAME,
      description = "source of the events")
  String schedulerName = Names.SCHEDULER_NAME;

  @Option(
      names = "--bind-address",
      defaultValue = "127.0.0.1",
      description =
          "address of the verbs; any but loopback needs --enable-tls and --client-ca-file")
  String bindAddress = "127.0.0.1";

  @Option(names = "--server-bind-port", defaultValue = "3456", description = "port of the verbs")
  int port;

  @Option(
      names = "--ops-bind-address",
      defaultValue = "0.0.0.0",
      description = "address of /healthz, /readyz and /metrics")
  String opsAddress = "0.0.0.0";

  @Option(
      names = "--ops-bind-port",
      defaultValue = "3457",
      description = "port of /healthz, /readyz and /metrics")
  int opsPort;

  @Option(
      names = "--enable-tls",
      defaultValue = "false",
      description = "serve the verbs over HTTPS")
  boolean enableTls;

  @Option(names = "--tls-cert-file", description = "certificate, PEM")
  @Nullable Path tlsCertFile;

  @Option(names = "--tls-key-file", description = "key, PEM")
  @Nullable Path tlsKeyFile;

  @Option(
      names = "--client-ca-file",
      description = "CA whose certificates callers must show; only with --enable-tls")
  @Nullable Path clientCaFile;

  @Option(
      names = "--cert-refresh-interval",
      defaultValue = "5s",
      description = "how often the certificate's files are looked at; 0 never")
  Duration certRefresh = Duration.ofSeconds(5);

  @Option(
      names = "--claim-key-file",
      required = true,
      description = "keys of the seal, one a line, the current first")
  Path claimKeyFile = Path.of("");

  @Option(
      names = "--core-headroom",
      defaultValue = "0",
      description = "percent of every card's cores that is never promised; 15 stops at 85")
  int coreHeadroom;

  @Option(
      names = "--workload-half-life",
      defaultValue = "168h",
      description = "after which a pod counts half in what the cluster's pods are like")
  Duration workloadHalfLife = Duration.ofDays(7);

  @Option(
      names = "--workload-rebuild-interval",
      defaultValue = "30s",
      description = "how often that is looked after")
  Duration workloadRebuild = Duration.ofSeconds(30);

  @Option(
      names = "--steer-policy",
      defaultValue = "foresight",
      description = "by which pods without cards are kept off idle ones, at /scheduler/steer")
  String steerPolicy = "foresight";

  @Option(
      names = "--max-feasible-nodes",
      defaultValue = "100",
      description =
          "so many nodes filter names at most, the best of those that fit; 0 names all. Pods with"
              + " preferred affinity or ScheduleAnyway constraints are shown all")
  int maxFeasibleNodes;

  @Option(
      names = "--feature-gates",
      defaultValue = "",
      description =
          "A=true,B=false of SerializedNodeFilter, SerializedNodeBind, TopologyAwareGPUAllocation")
  String featureGates = "";

  @Option(
      names = "--stuck-grace-period",
      defaultValue = "30s",
      description = "at least 1s; for pods that the original left behind, ours has no such state")
  Duration stuckGracePeriod = Duration.ofSeconds(30);

  @Option(
      names = "--leader-elect",
      defaultValue = "false",
      description = "must stay false: the extender answers whoever leads; a flag of controller")
  boolean leaderElect;

  @Option(
      names = "--watch-lease",
      defaultValue = "false",
      description = "must stay false: this release sets no role label on its pod")
  boolean watchLease;

  @Option(
      names = "--pprof-bind-port",
      defaultValue = "0",
      description = "must stay 0: profiles are taken with the JVM's own tools")
  int pprofPort;

  @Option(
      names = {"--v", "-v"},
      defaultValue = "2",
      description = "verbosity of the log, as klog's")
  int verbosity;

  @Override
  public Integer call() {
    Logging.configure(verbosity);
    ExtenderConfig config = config();
    Vertx vertx = Vertx.vertx(new VertxOptions().setPreferNativeTransport(true));
    Daemon daemon = new Daemon("scheduler-extender", vertx);
    SchedulerExtender extender = SchedulerExtender.of(vertx, config);
    daemon.onStop("extender", extender::stop);
    daemon.start(() -> extender.start().onSuccess(up -> tell(config, extender)));
    return daemon.run();
  }

  private static void tell(ExtenderConfig config, SchedulerExtender extender) {
    log.info(
        "extender serves [address: {}, port: {}, ops port: {}, gates: {}]",
        config.server().address(),
        extender.port(),
        config.server().opsPort(),
        config.gates());
  }

  /** Everything checked; throws {@link UsageException} that names flag, value and rule. */
  ExtenderConfig config() {
    refuse(
        leaderElect,
        "--leader-elect=true: the extender answers whoever leads; it is a flag of controller");
    refuse(watchLease, "--watch-lease=true: this release sets no role label on its pod");
    refuse(
        pprofPort != 0,
        "--pprof-bind-port "
            + pprofPort
            + ": must be 0, profiles are taken with the JVM's own tools");
    refuse(
        stuckGracePeriod.compareTo(Duration.ofSeconds(1)) < 0,
        "--stuck-grace-period " + stuckGracePeriod.toMillis() + "ms: must be at least 1s");
    return new ExtenderConfig(
        new ExtenderConfig.Api(
            api.kubeconfig(), api.master(), qps, burst, ExtenderConfig.Api.REQUEST_TIMEOUT),
        api.names(),
        schedulerName,
        new ExtenderConfig.Server(bindAddress, port, opsAddress, opsPort),
        tls(),
        coreHeadroom,
        FeatureGates.parse(ExtenderGate.class, featureGates),
        claimKeyFile,
        new ExtenderConfig.Packing(
            workloadHalfLife, workloadRebuild, steerPolicy(), maxFeasibleNodes));
  }

  private PlacementPolicy steerPolicy() {
    return PlacementPolicy.parse(steerPolicy)
        .orElseThrow(
            () ->
                new UsageException(
                    "--steer-policy \""
                        + steerPolicy
                        + "\": must be one of foresight, fgd, binpack, spread, none"));
  }

  private ExtenderConfig.@Nullable Tls tls() {
    if (!enableTls) {
      refuse(clientCaFile != null, "--client-ca-file: only with --enable-tls");
      return null;
    }
    Path certificate = tlsCertFile;
    Path key = tlsKeyFile;
    if (certificate == null || key == null) {
      throw new UsageException("--enable-tls: needs --tls-cert-file and --tls-key-file");
    }
    return new ExtenderConfig.Tls(certificate, key, clientCaFile, certRefresh);
  }

  private static void refuse(boolean wrong, String message) {
    if (wrong) {
      throw new UsageException(message);
    }
  }
}
