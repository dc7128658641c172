package io.vgpu.agent.config;

import static io.vgpu.model.Checks.check;

import io.vgpu.agent.gpu.DeviceSelection;
import io.vgpu.agent.gpu.MigStrategy;
import io.vgpu.agent.gpu.XidRules;
import io.vgpu.agent.health.HealthRules;
import io.vgpu.agent.inject.ExtraMode;
import io.vgpu.agent.inject.ListStrategy;
import io.vgpu.agent.shim.ShimPaths;
import io.vgpu.claim.Names;
import io.vgpu.model.NodeConfig;
import io.vgpu.runtime.FeatureGates;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Everything the agent was told, checked; made once from flags, environment and node file, and
 * passed down in parts.
 */
public record AgentConfig(
    String nodeName,
    Names names,
    Api api,
    Cards cards,
    Shim shim,
    Mps mps,
    Kubelet kubelet,
    Injected injected,
    Ops ops,
    FeatureGates<AgentGate> gates) {
  public AgentConfig {
    check(!nodeName.isBlank(), "--node-name (or NODE_NAME): must not be empty");
  }

  /**
   * How the API server is reached.
   *
   * @param timeout of a request; zero keeps the client's own
   * @param qps marks of pods a second, over time
   * @param burst marks of pods at once
   */
  public record Api(
      Optional<Path> kubeconfig, Optional<String> master, Duration timeout, int qps, int burst) {}

  /** The node's cards: where the driver is, how they are divided, which are left out. */
  public record Cards(
      Path containerDriverRoot,
      Path hostDriverRoot,
      Path sysfsRoot,
      NodeConfig division,
      DeviceSelection excluded,
      MigStrategy mig,
      XidRules xids,
      HealthRules health,
      Duration sampleInterval) {
    public Cards {
      check(
          sampleInterval.compareTo(Duration.ofMillis(10)) >= 0
              && sampleInterval.compareTo(Duration.ofMinutes(1)) <= 0,
          "--card-sample-interval: %s must be 10ms to 1m",
          sampleInterval);
    }

    /** When a sample no longer says what a card does: some have been missed. */
    public Duration samplesStaleAfter() {
      Duration some = sampleInterval.multipliedBy(5);
      Duration least = Duration.ofSeconds(3);
      return some.compareTo(least) > 0 ? some : least;
    }
  }

  /**
   * The library, the containers' files, and how what contexts take is measured.
   *
   * @param procRoot processes of the host
   */
  public record Shim(
      ShimPaths paths,
      Path library,
      Optional<Path> claimKeyFile,
      Path procRoot,
      Duration contextInterval) {
    public Shim {
      check(
          contextInterval.compareTo(Duration.ofMillis(50)) >= 0
              && contextInterval.compareTo(Duration.ofMinutes(1)) <= 0,
          "--context-sample-interval: %s must be 50ms to 1m",
          contextInterval);
    }
  }

  /**
   * Cards to be partitioned in space, and the program of their daemons, below the driver's root.
   */
  public record Mps(MpsDevices devices, Path control) {
    public Mps {
      check(control.isAbsolute(), "--mps-control: \"%s\" must be absolute", control);
    }
  }

  /**
   * The kubelet and what it is answered.
   *
   * @param endpoint host and port of its HTTPS server; empty: the node's own address, 10250
   */
  public record Kubelet(
      Path devicePluginDir,
      Path podResourcesSocket,
      Optional<String> endpoint,
      Optional<Path> caFile,
      boolean numaHints) {}

  /**
   * How cards come into containers, and what comes with them.
   *
   * @param strategies at least one
   * @param cdiRoot where container runtimes look for CDI specs
   * @param annotationPrefix of the annotation that names CDI devices
   * @param extras ways to the cards besides CUDA
   */
  public record Injected(
      Set<ListStrategy> strategies,
      Path cdiRoot,
      String annotationPrefix,
      Set<ExtraMode> extras,
      Imex imex) {
    private static final int MAX_PREFIX = 253;

    public Injected {
      check(!strategies.isEmpty(), "--device-list-strategy: must name at least one");
      check(cdiRoot.isAbsolute(), "--cdi-root: \"%s\" must be absolute", cdiRoot);
      check(
          annotationPrefix.length() <= MAX_PREFIX
              && annotationPrefix.matches("[a-z0-9]([-a-z0-9.]*[a-z0-9])?/"),
          "--cdi-annotation-prefix: \"%s\" must be a DNS name and a slash, such as cdi.k8s.io/",
          annotationPrefix);
      strategies = Set.copyOf(strategies);
      extras = Set.copyOf(extras);
    }
  }

  /** Channels to other nodes' cards; {@code required}: without them the agent does not start. */
  public record Imex(List<Integer> channelIds, boolean required) {
    public static final Imex NONE = new Imex(List.of(), false);

    public Imex {
      check(
          channelIds.isEmpty() || channelIds.equals(List.of(0)),
          "--imex-channel-ids: \"%s\" must be empty or 0",
          channelIds);
      channelIds = List.copyOf(channelIds);
    }
  }

  /**
   * Where and to whom health and metrics are served.
   *
   * @param minScrapeInterval a scrape sooner than this after another gets the same answer again
   * @param askWhoScrapes the API server says who may scrape
   */
  public record Ops(
      String address,
      int port,
      Duration minScrapeInterval,
      boolean askWhoScrapes,
      Optional<Tls> tls) {
    public Ops {
      check(port >= 0 && port <= 65535, "--ops-bind-port: %d must be 0 to 65535", port);
      check(
          minScrapeInterval.compareTo(Duration.ofSeconds(1)) >= 0
              && minScrapeInterval.compareTo(Duration.ofMinutes(5)) <= 0,
          "--min-scrape-interval: %s must be 1s to 5m",
          minScrapeInterval);
    }

    /** Whether everybody who reaches the node can read them. */
    public boolean open() {
      return !askWhoScrapes && (address.equals("0.0.0.0") || address.equals("::"));
    }
  }

  /** A certificate with its key, looked at again at each interval. */
  public record Tls(Path certificate, Path key, Duration refresh) {
    public Tls {
      check(
          refresh.compareTo(Duration.ofMillis(100)) >= 0
              && refresh.compareTo(Duration.ofHours(1)) <= 0,
          "--cert-refresh-interval: %s must be 100ms to 1h",
          refresh);
    }
  }
}
