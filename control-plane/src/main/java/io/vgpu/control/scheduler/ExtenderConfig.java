package io.vgpu.control.scheduler;

import io.vgpu.claim.Names;
import io.vgpu.model.PlacementPolicy;
import io.vgpu.runtime.FeatureGates;
import io.vgpu.runtime.UsageException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * What {@code scheduler-extender} runs with (control-plane.md 1.2, D20); checks what belongs
 * together and throws {@link UsageException}.
 */
public record ExtenderConfig(
    Api api,
    Names names,
    String schedulerName,
    Server server,
    @Nullable Tls tls,
    int coreHeadroom,
    FeatureGates<ExtenderGate> gates,
    Path claimKeyFile,
    Packing packing) {

  /** Pods weighted by the last week, a model at most every half minute. */
  public ExtenderConfig(
      Api api,
      Names names,
      String schedulerName,
      Server server,
      @Nullable Tls tls,
      int coreHeadroom,
      FeatureGates<ExtenderGate> gates,
      Path claimKeyFile) {
    this(api, names, schedulerName, server, tls, coreHeadroom, gates, claimKeyFile, Packing.USUAL);
  }

  /**
   * What the policies go by.
   *
   * @param halfLife after which a pod of the past counts half
   * @param rebuild how often the workload model is looked after
   * @param steer by which policy pods without cards are kept off idle ones
   * @param maxFeasibleNodes so many nodes filter names at most, the best; 0 names all that fit
   */
  public record Packing(
      Duration halfLife, Duration rebuild, PlacementPolicy steer, int maxFeasibleNodes) {
    public static final Packing USUAL =
        new Packing(
            Duration.ofDays(7),
            Duration.ofSeconds(30),
            PlacementPolicy.FORESIGHT,
            Shortlists.USUAL);

    public Packing {
      require(
          halfLife.compareTo(Duration.ofMinutes(1)) >= 0,
          "--workload-half-life " + halfLife.toMillis() + "ms: must be at least 1m");
      require(
          rebuild.compareTo(Duration.ofSeconds(1)) >= 0,
          "--workload-rebuild-interval " + rebuild.toMillis() + "ms: must be at least 1s");
      require(
          maxFeasibleNodes >= 0,
          "--max-feasible-nodes " + maxFeasibleNodes + ": must be 0, for all, or more");
    }
  }

  /** How the API server is reached. */
  public record Api(
      @Nullable Path kubeconfig,
      @Nullable String master,
      int qps,
      int burst,
      Duration requestTimeout) {
    /** Long enough for a busy API server, short enough to answer kube-scheduler within its 30 s. */
    public static final Duration REQUEST_TIMEOUT = Duration.ofSeconds(10);

    public Api {
      require(qps > 0, "--kube-api-qps " + qps + ": must be positive");
      require(burst > 0, "--kube-api-burst " + burst + ": must be positive");
    }
  }

  /** Where the verbs and where health and metrics are served; port 0 takes a free one. */
  public record Server(String address, int port, String opsAddress, int opsPort) {
    public Server {
      requirePort("--server-bind-port", port);
      requirePort("--ops-bind-port", opsPort);
      require(
          port == 0 || port != opsPort,
          "--ops-bind-port " + opsPort + ": must differ from --server-bind-port");
    }

    boolean loopback() {
      try {
        return InetAddress.getByName(address).isLoopbackAddress();
      } catch (UnknownHostException e) {
        throw new UsageException("--bind-address " + address + ": is no address of this host");
      }
    }
  }

  /** Certificate, and the CA of callers where they have to show one. */
  public record Tls(Path certificate, Path key, @Nullable Path clientCa, Duration refresh) {}

  public ExtenderConfig {
    require(
        coreHeadroom >= 0 && coreHeadroom < 100,
        "--core-headroom " + coreHeadroom + ": must be 0 to 99 percent");
    // whoever reaches the verbs can bind pods (control-plane.md 1.1)
    require(
        server.loopback() || (tls != null && tls.clientCa() != null),
        "--bind-address "
            + server.address()
            + ": needs --enable-tls and --client-ca-file, because callers from outside must prove"
            + " who they are");
  }

  private static void require(boolean ok, String message) {
    if (!ok) {
      throw new UsageException(message);
    }
  }

  private static void requirePort(String flag, int port) {
    require(port >= 0 && port <= 65_535, flag + " " + port + ": must be 0 to 65535");
  }
}
