package io.vgpu.control;

import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vgpu.claim.Names;
import io.vgpu.control.metrics.ControllerMeters;
import io.vgpu.control.reschedule.kube.ControllerApi;
import io.vgpu.kube.Leadership;
import io.vgpu.runtime.Logging;
import io.vgpu.runtime.OpsVerticle;
import io.vgpu.runtime.UsageException;
import io.vgpu.runtime.Version;
import java.net.InetAddress;
import java.net.URI;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * {@code vgpu-control-plane controller}: what one process of the cluster does (D12); in this
 * release the rescheduler and the explain store. Ends with {@value #LEASE_LOST} when it loses its
 * lease, to be started again.
 */
@Command(
    name = "controller",
    description = {
      "Replaces pods whose vGPU allocation failed, evicts those on drained and on lastingly unhealthy",
      "GPUs, and keeps what schedulers have decided. One of several replicas acts, by a Lease.",
      "Exit status 3: the lease was lost; start it again."
    },
    mixinStandardHelpOptions = true,
    versionProvider = Version.class,
    showDefaultValues = true)
public final class ControllerCommand implements Callable<Integer> {
  static final int LEASE_LOST = 3;

  @Mixin ApiFlags api = new ApiFlags();

  @Option(names = "--namespace", description = "namespace of the release: the Lease is there")
  String namespace = "kube-system";

  @Option(
      names = "--copies-namespace",
      description = "where pods wait, as Secrets, between their removal and their making")
  String copiesNamespace = "vgpu-manager-copies";

  @Option(names = "--leader-elect", arity = "1", description = "act only while holding the Lease")
  boolean leaderElect = true;

  @Option(
      names = "--leader-identity-prefix",
      description = "begins the name of this process in the Lease; empty: the host's name")
  String identityPrefix = "";

  @Option(
      names = "--leader-elect-lease-duration",
      defaultValue = "15s",
      description = "after which another process may take a Lease that was not renewed")
  Duration leaseDuration = Duration.ofSeconds(15);

  @Option(
      names = "--leader-elect-renew-deadline",
      defaultValue = "10s",
      description = "after which a leader that cannot renew ends; below the lease duration")
  Duration renewDeadline = Duration.ofSeconds(10);

  @Option(
      names = "--leader-elect-retry-period",
      defaultValue = "2s",
      description = "between tries for the Lease")
  Duration retryPeriod = Duration.ofSeconds(2);

  @Option(
      names = "--request-timeout",
      defaultValue = "10s",
      description = "bound of each request to the API server")
  Duration requestTimeout = Duration.ofSeconds(10);

  @Option(names = "--ops-bind-address", description = "address of /healthz, /readyz, /metrics")
  String opsBindAddress = "0.0.0.0";

  @Option(names = "--ops-bind-port", description = "port of /healthz, /readyz, /metrics")
  int opsBindPort = 3460;

  @Option(
      names = "--scheduler-ops-port",
      description =
          "health port of the pods vgpu-manager-scheduler-* in --namespace, whose decisions are"
              + " collected and kept")
  int schedulerOpsPort = 3457;

  @Option(
      names = "--scheduler-urls",
      split = ",",
      paramLabel = "URL",
      description = "health ports of schedulers that are no pods, instead")
  List<URI> schedulerUrls = List.of();

  @Option(
      names = "--unhealthy-grace-period",
      defaultValue = "5m",
      description =
          "how long pods stay on a GPU that is unhealthy and not cordoned before they are evicted;"
              + " at least 1s; a pod's annotation stuck-grace-period goes before it")
  Duration unhealthyGrace = Duration.ofMinutes(5);

  @Option(names = "--v", description = "verbosity of the log, as klog's")
  int verbosity;

  @Override
  public Integer call() {
    Logging.configure(verbosity);
    if (renewDeadline.compareTo(leaseDuration) >= 0 || retryPeriod.compareTo(renewDeadline) >= 0) {
      throw new UsageException(
          "--leader-elect-retry-period "
              + retryPeriod
              + ", --leader-elect-renew-deadline "
              + renewDeadline
              + ", --leader-elect-lease-duration "
              + leaseDuration
              + ": each must be below the next");
    }
    if (unhealthyGrace.compareTo(Duration.ofSeconds(1)) < 0) {
      throw new UsageException(
          "--unhealthy-grace-period " + unhealthyGrace + ": must be at least 1s");
    }
    for (URI url : schedulerUrls) {
      if (!"http".equals(url.getScheme()) || url.getHost() == null) {
        throw new UsageException("--scheduler-urls \"" + url + "\": must be http://HOST:PORT");
      }
    }
    Names names = api.names();
    PrometheusMeterRegistry meters = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    Vertx vertx = Vertx.vertx();
    Daemon daemon = new Daemon("controller", vertx);
    ControllerApi access =
        new ControllerApi(
            api.kubeconfig(),
            api.master(),
            requestTimeout,
            names,
            copiesNamespace,
            unhealthyGrace,
            meters);
    daemon.onStop("api", access::close);
    ControllerMeters controllerMeters = new ControllerMeters(meters);
    Controller controller =
        new Controller(
            vertx,
            access,
            controllerMeters,
            schedulerUrls.isEmpty()
                ? () -> access.extenders(namespace, schedulerOpsPort)
                : () -> schedulerUrls);
    daemon.onStop("rescheduler", controller::stop);
    daemon.deploy(
        () ->
            new OpsVerticle(
                opsBindAddress,
                opsBindPort,
                meters,
                () -> {
                  List<String> missing = daemon.missing();
                  return missing.isEmpty() ? controller.missing() : missing;
                },
                controller::explained),
        1);
    if (leaderElect) {
      Leadership leadership = access.leadership(lease());
      controllerMeters.leading(leadership::leading);
      daemon.onStop("lease", () -> closed(leadership));
      leadership.start(controller::start, () -> daemon.end(LEASE_LOST));
    } else {
      controller.start();
    }
    return daemon.run();
  }

  private static Future<?> closed(Leadership leadership) {
    leadership.close();
    return Future.succeededFuture();
  }

  private Leadership.Settings lease() {
    String prefix = identityPrefix.isEmpty() ? hostName() : identityPrefix;
    return new Leadership.Settings(
        namespace,
        Names.CONTROLLER_LEASE,
        prefix + "_" + UUID.randomUUID(),
        leaseDuration,
        renewDeadline,
        retryPeriod);
  }

  private static String hostName() {
    try {
      return InetAddress.getLocalHost().getHostName();
    } catch (UnknownHostException e) {
      throw new UsageException(
          "--leader-identity-prefix: must be given where the host has no name of its own: "
              + e.getMessage());
    }
  }
}
