package io.vgpu.e2e.cluster;

import io.fabric8.kubernetes.client.KubernetesClient;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The order in which a cluster comes up, and what is refused before anything is touched. */
final class Startup {
  private static final String SYSTEM_MASTERS = "system:masters";

  private final ClusterConfig config;
  private final ClusterPaths paths;
  private final Progress progress;
  private final Map<Part, ManagedProcess> parts = new EnumMap<>(Part.class);

  Startup(ClusterConfig config, Progress progress) {
    this.config = config;
    this.paths = config.paths();
    this.progress = progress;
  }

  Cluster run(Optional<ProcessId> owner) {
    try (MachineLock _ = MachineLock.take()) {
      Prerequisites.check();
      clearAbandoned();
      refuseForeignNode();
      new Leftovers(paths, config.netns()).remove();
      new MachineMarker(config.runDir(), config.netns(), owner).write();
      try {
        return bringUp();
      } catch (RuntimeException e) {
        new Teardown(paths, config.netns(), config.apiServerUrl(), progress).run();
        throw e;
      }
    }
  }

  /** Stops what an earlier run left; a cluster that is somebody's is refused. */
  private void clearAbandoned() {
    MachineMarker.read()
        .ifPresent(
            marker -> {
              if (!marker.isAbandoned()) {
                throw new ClusterException(
                    "this machine runs a cluster already [run folder: %s, %s]; one at a time: stop it with 'make cluster-stop'"
                        .formatted(
                            marker.runDir(),
                            marker.owner().map(o -> "of pid " + o.pid()).orElse("detached")));
              }
              progress.step("clearing what an earlier cluster left in " + marker.runDir());
              teardown(marker, progress).run();
            });
  }

  static Teardown teardown(MachineMarker marker, Progress progress) {
    // of the configuration only the address counts here, and that is the same for all
    ClusterConfig any = ClusterConfig.defaults(marker.runDir());
    return new Teardown(
        new ClusterPaths(marker.runDir()), marker.netns(), any.apiServerUrl(), progress);
  }

  /**
   * The device-plugin folder and the pods' cgroups are the machine's: a real node's must not be
   * touched.
   */
  private static void refuseForeignNode() {
    Leftovers.pids()
        .filter(pid -> Leftovers.commandLine(pid).split("\0", -1)[0].endsWith("/kubelet"))
        .findFirst()
        .ifPresent(
            pid -> {
              throw new ClusterException(
                  "this machine runs a kubelet already (pid " + pid + "); use another machine");
            });
    if (!Leftovers.podProcesses().isEmpty()) {
      throw new ClusterException(
          "this machine runs pods of another node (cgroup kubepods, pids %s); use another machine"
              .formatted(Leftovers.podProcesses()));
    }
    Path checkpoint = ClusterPaths.DEVICE_PLUGINS.resolve("kubelet_internal_checkpoint");
    if (Files.exists(checkpoint)) {
      throw new ClusterException(
          checkpoint + " is another node's; if that node is no more, remove the file");
    }
  }

  private Cluster bringUp() {
    makeFolders();
    KernelSettings.save(paths);
    Pki pki = makePki();
    new ConfigFiles(config, snapshotter()).write();
    new NodeNetwork(config).up();
    progress.step("certificates, configuration and network made");
    PartSpecs specs = new PartSpecs(config);
    for (Part part : Part.values()) {
      parts.put(part, new ManagedProcess(specs.of(part), config.netns()));
    }
    KubernetesClient client = AdminClient.create(config.apiServerUrl(), paths);
    Readiness readiness = new Readiness(config, client);
    start(Part.ETCD);
    start(Part.APISERVER);
    start(Part.CONTAINERD);
    List<Path> images = Images.writeAll(paths.images(), config.exampleFiles());
    readiness.await(Part.CONTAINERD, process(Part.CONTAINERD));
    progress.step("containerd up");
    images.forEach(image -> importImage(config, image));
    progress.step(images.size() + " images made and imported");
    readiness.await(Part.APISERVER, process(Part.APISERVER));
    progress.step("apiserver ready");
    start(Part.CONTROLLER_MANAGER);
    start(Part.SCHEDULER);
    start(Part.KUBELET);
    Cluster cluster = new Cluster(config, progress, pki, client, parts);
    readiness.await(Part.KUBELET, process(Part.KUBELET));
    cluster.awaitNodeReady();
    progress.step("node " + config.nodeName() + " Ready");
    readiness.await(Part.SCHEDULER, process(Part.SCHEDULER));
    process(Part.CONTROLLER_MANAGER)
        .awaitReady(
            "to make the default service account",
            Duration.ofSeconds(60),
            () ->
                client.serviceAccounts().inNamespace("default").withName("default").get() != null);
    progress.step("pods can be made");
    return cluster;
  }

  private void start(Part part) {
    process(part).start();
  }

  private ManagedProcess process(Part part) {
    return Optional.ofNullable(parts.get(part)).orElseThrow();
  }

  private void makeFolders() {
    try {
      if (Files.isDirectory(paths.logs())) {
        Leftovers.deleteTree(paths.logs());
      }
      for (Path folder :
          List.of(
              paths.logs(),
              paths.podLogs(),
              paths.pidFiles(),
              paths.kubeletRoot(),
              ClusterPaths.DEVICE_PLUGINS)) {
        Files.createDirectories(folder);
      }
    } catch (IOException e) {
      throw new UncheckedIOException("cannot make folders in " + paths.runDir(), e);
    }
  }

  private Pki makePki() {
    Pki pki = Pki.create(paths.pki());
    String node = config.nodeName();
    pki.server(
        "apiserver",
        List.of(
            "DNS:localhost",
            "DNS:kubernetes",
            "DNS:kubernetes.default",
            "DNS:kubernetes.default.svc",
            "IP:127.0.0.1",
            "IP:" + config.nodeIp(),
            "IP:" + NodeNetwork.API_SERVICE_IP));
    pki.server("kubelet", List.of("DNS:" + node, "IP:127.0.0.1", "IP:" + config.nodeIp()));
    pki.client("apiserver-kubelet-client", "kube-apiserver-kubelet-client", SYSTEM_MASTERS);
    Kubeconfigs kubeconfigs = new Kubeconfigs(config.apiServerUrl(), paths.caCertificate());
    kubeconfigs.writeForCertificate(
        paths.adminKubeconfig(), pki.client("admin", "admin", SYSTEM_MASTERS));
    kubeconfigs.writeForCertificate(
        paths.kubeconfig("controller-manager"),
        pki.client("controller-manager", "system:kube-controller-manager", ""));
    kubeconfigs.writeForCertificate(
        paths.kubeconfig("scheduler"), pki.client("scheduler", "system:kube-scheduler", ""));
    kubeconfigs.writeForCertificate(
        paths.kubeconfig("kubelet"),
        pki.client("kubelet-client", "system:node:" + node, "system:nodes"));
    return pki;
  }

  /**
   * Overlay mounts do not nest: a run folder inside a container's own overlay needs plain copies.
   */
  private String snapshotter() {
    try {
      Path probe = Files.createDirectories(paths.runDir().resolve("overlay-probe"));
      for (String folder : List.of("lower", "upper", "work", "merged")) {
        Files.createDirectories(probe.resolve(folder));
      }
      String merged = probe.resolve("merged").toString();
      String options = "lowerdir=%1$s/lower,upperdir=%1$s/upper,workdir=%1$s/work".formatted(probe);
      boolean works =
          Commands.run(List.of("mount", "-t", "overlay", "overlay", "-o", options, merged)).ok();
      if (works) {
        Commands.must("umount", merged);
      }
      Leftovers.deleteTree(probe);
      return works ? "overlayfs" : "native";
    } catch (IOException e) {
      throw new UncheckedIOException("cannot write in " + paths.runDir(), e);
    }
  }

  static void importImage(ClusterConfig config, Path archive) {
    Commands.must(
        config.binaries().resolve("ctr").toString(),
        "-a",
        config.paths().containerdSocket().toString(),
        "-n",
        "k8s.io",
        "images",
        "import",
        "--local",
        archive.toString());
  }
}
