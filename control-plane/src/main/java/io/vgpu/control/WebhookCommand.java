package io.vgpu.control;

import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.vertx.core.Vertx;
import io.vgpu.claim.Names;
import io.vgpu.control.webhook.Admission;
import io.vgpu.control.webhook.PodDefaults;
import io.vgpu.control.webhook.PodMutator;
import io.vgpu.control.webhook.PodValidator;
import io.vgpu.control.webhook.WebhookVerticle;
import io.vgpu.kube.TlsReload;
import io.vgpu.runtime.Logging;
import io.vgpu.runtime.OpsVerticle;
import io.vgpu.runtime.Version;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * {@code vgpu-control-plane webhook}: admission over HTTPS, stateless, asks the API nothing, as
 * many replicas as wanted (control-plane.md 1.6).
 */
@Command(
    name = "webhook",
    description = "Mends and checks pods at their creation, and guards our keys.",
    mixinStandardHelpOptions = true,
    versionProvider = Version.class,
    showDefaultValues = true)
public final class WebhookCommand implements Callable<Integer> {
  // taken so that all parts can be started alike: the webhook asks the API server nothing
  @Mixin ApiFlags api = new ApiFlags();

  @Option(names = "--scheduler-name", description = "scheduler of vGPU pods that name none")
  String schedulerName = "";

  @Option(names = "--bind-address", description = "address of the HTTPS server")
  String bindAddress = "0.0.0.0";

  @Option(names = "--server-bind-port", description = "port of the HTTPS server")
  int serverBindPort = 9443;

  @Option(
      names = "--ops-bind-port",
      description = "port of /healthz, /readyz and /metrics without TLS; 0: only those over HTTPS")
  int opsBindPort = 3461;

  @Option(names = "--cert-dir", description = "folder of certificate and key")
  Path certDir =
      Path.of(System.getProperty("java.io.tmpdir"), "k8s-webhook-server", "serving-certs");

  @Option(names = "--tls-cert-name", description = "file of the certificate, with its chain")
  String tlsCertName = "tls.crt";

  @Option(names = "--tls-key-name", description = "file of the key")
  String tlsKeyName = "tls.key";

  @Option(
      names = "--cert-refresh-interval",
      defaultValue = "5s",
      description = "how often the certificate's files are looked at; 0 never again")
  Duration certRefreshInterval = Duration.ofSeconds(5);

  @Option(
      names = "--default-node-policy",
      description = "binpack, spread, fgd or foresight, where a pod has none")
  String nodePolicy = "";

  @Option(
      names = "--default-device-policy",
      description = "binpack, spread, fgd or foresight, where a pod has none")
  String devicePolicy = "";

  @Option(
      names = "--default-topology-mode",
      description = "numa, numa-strict, link or link-strict, for pods with several cards")
  String topologyMode = "";

  @Option(names = "--default-runtime-class", description = "runtime class of vGPU pods without one")
  String runtimeClass = "";

  @Option(
      names = "--trusted-accounts",
      split = ",",
      paramLabel = "USER",
      description = "whose changes of our keys pass the guard of /pods/validate")
  List<String> trustedAccounts =
      List.of(
          "system:serviceaccount:kube-system:vgpu-manager-scheduler",
          "system:serviceaccount:kube-system:vgpu-manager-agent",
          "system:serviceaccount:kube-system:vgpu-manager-controller");

  @Option(names = "--v", description = "verbosity of the log, as klog's")
  int verbosity;

  @Override
  public Integer call() {
    Logging.configure(verbosity);
    Names names = api.names();
    PodDefaults defaults =
        PodDefaults.of(schedulerName, nodePolicy, devicePolicy, topologyMode, runtimeClass);
    Admission admission =
        new Admission(
            new PodMutator(names, defaults), new PodValidator(names, Set.copyOf(trustedAccounts)));
    PrometheusMeterRegistry meters = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    Vertx vertx = Vertx.vertx();
    Daemon daemon = new Daemon("webhook", vertx);
    if (opsBindPort != 0) {
      daemon.deploy(() -> new OpsVerticle(bindAddress, opsBindPort, meters, daemon::missing), 1);
    }
    daemon.deploy(
        () ->
            new WebhookVerticle(
                bindAddress,
                serverBindPort,
                new TlsReload(vertx, certDir.resolve(tlsCertName), certDir.resolve(tlsKeyName)),
                certRefreshInterval,
                admission,
                meters),
        Runtime.getRuntime().availableProcessors());
    return daemon.run();
  }
}
