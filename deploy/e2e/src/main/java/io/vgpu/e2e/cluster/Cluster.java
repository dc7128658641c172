package io.vgpu.e2e.cluster;

import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * A running real cluster of one node: etcd, kube-apiserver, kube-controller-manager,
 * kube-scheduler, containerd and kubelet, all built from source, alone in a network namespace.
 * Reachable from this machine at the node's address; processes of ours run inside by {@link
 * #startProcess}. Any thread may use it; what does not come within its limit is a {@link
 * ClusterException}.
 *
 * <p>{@link #close} stops it and leaves nothing on the machine but logs. A cluster that was not
 * closed (its JVM was killed) is cleaned up by the next start.
 */
public final class Cluster implements AutoCloseable {
  private static final Duration NODE_LIMIT = Duration.ofSeconds(90);

  private final ClusterConfig config;
  private final ClusterPaths paths;
  private final Progress progress;
  private final Pki pki;
  private final KubernetesClient client;
  private final Map<Part, ManagedProcess> parts;
  private final Map<String, ManagedProcess> ours = new TreeMap<>();

  Cluster(
      ClusterConfig config,
      Progress progress,
      Pki pki,
      KubernetesClient client,
      Map<Part, ManagedProcess> parts) {
    this.config = config;
    this.paths = config.paths();
    this.progress = progress;
    this.pki = pki;
    this.client = client;
    this.parts = new EnumMap<>(parts);
  }

  /**
   * Starts a cluster that ends with this object, or with the next start if this JVM dies first.
   * Returns with the node Ready.
   */
  public static Cluster start(ClusterConfig config, Progress progress) {
    return new Startup(config, progress).run(ProcessId.of(ProcessHandle.current().pid()));
  }

  /** Starts a cluster that outlives this JVM, until {@link #stopRecorded}. */
  public static Cluster startDetached(ClusterConfig config, Progress progress) {
    return new Startup(config, progress).run(Optional.empty());
  }

  /** Stops the cluster that this machine runs, whoever started it; says whether there was one. */
  public static boolean stopRecorded(Progress progress) {
    try (MachineLock _ = MachineLock.take()) {
      Optional<MachineMarker> marker = MachineMarker.read();
      marker.ifPresent(m -> Startup.teardown(m, progress).run());
      return marker.isPresent();
    }
  }

  public ClusterConfig config() {
    return config;
  }

  public ClusterPaths paths() {
    return paths;
  }

  /**
   * The administrator's client, for this cluster's life. It reconnects after a restart of the
   * apiserver.
   */
  public KubernetesClient client() {
    return client;
  }

  /**
   * Signs certificates for our own servers; its authority is {@link ClusterPaths#caCertificate}.
   */
  public Pki pki() {
    return pki;
  }

  public ServiceAccounts serviceAccounts() {
    return new ServiceAccounts(
        client, paths, new Kubeconfigs(config.apiServerUrl(), paths.caCertificate()));
  }

  public AuditLog auditLog() {
    return new AuditLog(paths.auditLog());
  }

  /**
   * Versions of what was built: {@code kubernetes}, {@code containerd}, {@code etcd}, {@code runc},
   * {@code cni}.
   */
  public Map<String, String> versions() {
    return ClusterBinaries.versions(config.binaries());
  }

  public ManagedProcess part(Part part) {
    return Optional.ofNullable(parts.get(part)).orElseThrow();
  }

  /** Kills a part with SIGKILL and leaves it dead. */
  public void kill9(Part part) {
    part(part).kill9();
    progress.step(part + " killed");
  }

  /** Ends a part if it runs, starts it with the same arguments and waits until it serves. */
  public void restart(Part part) {
    part(part).restart();
    awaitServing(part);
    progress.step(part + " serves again");
  }

  /** Starts every part that is dead. */
  public void reviveParts() {
    for (Part part : Part.values()) {
      if (!part(part).isAlive()) {
        restart(part);
      }
    }
  }

  /** Waits until the part answers. */
  public void awaitServing(Part part) {
    boolean seenThroughApi = part == Part.ETCD && part(Part.APISERVER).isAlive();
    Part witness = seenThroughApi ? Part.APISERVER : part;
    new Readiness(config, client).await(witness, part(witness));
  }

  /** The node as the API has it now. */
  public Node node() {
    return client.nodes().withName(config.nodeName()).get();
  }

  /** Waits until the API says that the node is Ready. */
  public void awaitNodeReady() {
    Await.until("node " + config.nodeName() + " to be Ready", NODE_LIMIT, () -> isReady(node()));
  }

  static boolean isReady(@Nullable Node node) {
    return node != null
        && node.getStatus().getConditions().stream()
            .anyMatch(c -> c.getType().equals("Ready") && c.getStatus().equals("True"));
  }

  /**
   * Starts a process of ours in the cluster's namespace (log {@code NAME.log}), known under its
   * name until the cluster stops. A name that runs already is a programming error.
   */
  public ManagedProcess startProcess(
      String name, List<String> command, Map<String, String> environment) {
    synchronized (ours) {
      ManagedProcess running = ours.get(name);
      if (running != null && running.isAlive()) {
        throw new IllegalStateException("process " + name + " runs already");
      }
      ProcessSpec spec =
          new ProcessSpec(name, command, environment, paths.log(name), paths.pidFile(name));
      ManagedProcess process = new ManagedProcess(spec, config.netns()).start();
      ours.put(name, process);
      return process;
    }
  }

  /** The process of ours with the name, dead or alive. */
  public Optional<ManagedProcess> process(String name) {
    synchronized (ours) {
      return Optional.ofNullable(ours.get(name));
    }
  }

  /** Stops all processes of ours and forgets them. */
  public void stopProcesses() {
    synchronized (ours) {
      ours.values().forEach(ManagedProcess::stop);
      ours.clear();
    }
  }

  /**
   * Brings the cluster back to what it was after its start: parts revived, processes of ours
   * stopped, everything but Kubernetes' own objects deleted, the node's marks removed. For the next
   * test class, or the next run of a demo.
   */
  public void cleanUp() {
    new CleanState(this).restore();
  }

  /**
   * Runs a short command in the cluster's namespace and returns what it printed; a failure is an
   * exception.
   */
  public String inNetns(List<String> command) {
    List<String> all =
        new ArrayList<>(List.of("nsenter", "--net=/run/netns/" + config.netns(), "--"));
    all.addAll(command);
    return Commands.must(all);
  }

  /**
   * What an HTTP server on the namespace's loopback answers to GET (health, metrics); not 200 is an
   * exception.
   */
  public String httpGetInside(String url) {
    return inNetns(List.of("busybox", "wget", "-q", "-T", "10", "-O", "-", url));
  }

  /** Kills every process of every pod, as a loss of power does; containerd goes on. */
  public void killContainers() {
    for (long pid : Leftovers.podProcesses()) {
      ProcessId.of(pid).ifPresent(p -> p.signal("KILL"));
    }
  }

  /** Imports an image archive (docker or OCI layout) into the node's containerd. */
  public void importImage(Path archive) {
    Startup.importImage(config, archive);
  }

  /** Everything of this cluster that the machine holds; empty after {@link #close}. */
  public Leftovers leftovers() {
    return new Leftovers(paths, config.netns());
  }

  /** Stops everything and removes every trace but the logs. A second call does nothing. */
  @Override
  public void close() {
    try (MachineLock _ = MachineLock.take()) {
      client.close();
      if (MachineMarker.read().filter(m -> m.runDir().equals(config.runDir())).isPresent()) {
        new Teardown(paths, config.netns(), config.apiServerUrl(), progress).run();
      }
    }
  }
}
