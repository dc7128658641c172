package io.vgpu.e2e.cluster;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** Renders the configuration files of the real parts. Pure but for {@link #write}. */
final class ConfigFiles {
  private final ClusterConfig config;
  private final ClusterPaths paths;
  private final String snapshotter;

  /** The snapshotter is overlayfs wherever the run folder's file system bears it, else native. */
  ConfigFiles(ClusterConfig config, String snapshotter) {
    this.config = config;
    this.paths = config.paths();
    this.snapshotter = snapshotter;
  }

  void write() {
    try {
      Files.createDirectories(paths.config(".").normalize());
      Files.createDirectories(paths.cniConfig());
      Files.createDirectories(paths.cdi());
      Files.writeString(paths.config("audit.yaml"), auditPolicy());
      Files.writeString(paths.config("scheduler.yaml"), scheduler());
      Files.writeString(paths.config("kubelet.yaml"), kubelet());
      Files.writeString(paths.config("containerd.toml"), containerd());
      Files.writeString(paths.config("resolv.conf"), "nameserver 10.96.0.10\n");
      Files.writeString(paths.cniConfig().resolve("10-vgpu.conflist"), cni());
    } catch (IOException e) {
      throw new UncheckedIOException("cannot write configuration below " + paths.runDir(), e);
    }
  }

  /** Every verb of every account, reads and leases included: readers filter. */
  String auditPolicy() {
    return """
    apiVersion: audit.k8s.io/v1
    kind: Policy
    omitStages: [RequestReceived]
    omitManagedFields: true
    rules: [{level: Metadata}]
    """;
  }

  String scheduler() {
    String head =
        """
        apiVersion: kubescheduler.config.k8s.io/v1
        kind: KubeSchedulerConfiguration
        clientConnection: {kubeconfig: "%s", qps: 1000, burst: 2000}
        leaderElection: {leaderElect: false}
        percentageOfNodesToScore: 100
        profiles:
        - schedulerName: default-scheduler
        - schedulerName: vgpu-scheduler
        """
            .formatted(paths.kubeconfig("scheduler"));
    return config.extender() ? head + extender() : head;
  }

  private String extender() {
    return """
    extenders:
    - urlPrefix: "http://127.0.0.1:3456/scheduler"
      enableHTTPS: false
      filterVerb: filter
      prioritizeVerb: prioritize
      bindVerb: bind
      nodeCacheCapable: true
      weight: %d
      httpTimeout: 30s
      ignorable: false
      managedResources:
      - {name: nvidia.com/vgpu-number, ignoredByScheduler: false}
      - {name: nvidia.com/vgpu-cores, ignoredByScheduler: true}
      - {name: nvidia.com/vgpu-memory, ignoredByScheduler: true}
    """
        .formatted(config.extenderWeight());
  }

  String kubelet() {
    return """
    apiVersion: kubelet.config.k8s.io/v1beta1
    kind: KubeletConfiguration
    authentication: {anonymous: {enabled: false}, webhook: {enabled: true, cacheTTL: 10s}, x509: {clientCAFile: "%1$s/ca.crt"}}
    authorization: {mode: Webhook}
    tlsCertFile: "%1$s/kubelet.crt"
    tlsPrivateKeyFile: "%1$s/kubelet.key"
    containerRuntimeEndpoint: "unix://%2$s"
    cgroupDriver: cgroupfs
    failSwapOn: false
    failCgroupV1: false
    resolvConf: "%3$s/config/resolv.conf"
    clusterDNS: [10.96.0.10]
    clusterDomain: cluster.local
    podLogsDir: "%4$s"
    volumePluginDir: "%3$s/kubelet/volume-plugins"
    evictionHard: {memory.available: "100Mi", nodefs.available: "1%%", imagefs.available: "1%%", nodefs.inodesFree: "1%%"}
    imageGCHighThresholdPercent: 100
    nodeStatusUpdateFrequency: 2s
    maxPods: 250
    kubeAPIQPS: 500
    kubeAPIBurst: 1000
    featureGates: {%5$s}
    """
        .formatted(
            paths.pki(),
            paths.containerdSocket(),
            paths.runDir(),
            paths.podLogs(),
            new TreeMap<>(config.featureGates())
                .entrySet().stream()
                    .map(gate -> gate.getKey() + ": " + gate.getValue())
                    .collect(Collectors.joining(", ")));
  }

  /** Every folder that would lie in a fixed place of the machine is moved into the run folder. */
  String containerd() {
    return """
    version = 3
    root = '%1$s/root'
    state = '%1$s/state'
    disabled_plugins = ['io.containerd.snapshotter.v1.devmapper', 'io.containerd.snapshotter.v1.zfs', 'io.containerd.snapshotter.v1.btrfs', 'io.containerd.snapshotter.v1.blockfile', 'io.containerd.snapshotter.v1.erofs']
    [grpc]
      address = '%2$s'
    [plugins.'io.containerd.internal.v1.opt']
      path = '%1$s/opt'
    [plugins.'io.containerd.nri.v1.nri']
      socket_path = '%3$s'
    [plugins.'io.containerd.cri.v1.images']
      snapshotter = '%8$s'
      [plugins.'io.containerd.cri.v1.images'.pinned_images]
        sandbox = '%4$s'
    [plugins.'io.containerd.cri.v1.runtime']
      # a machine without CAP_SYS_RESOURCE cannot lower the score as the sandbox wants
      restrict_oom_score_adj = true
      enable_cdi = true
      cdi_spec_dirs = ['%5$s']
      # under the state folder they are found, and unmounted, with the rest
      netns_mounts_under_state_dir = true
      [plugins.'io.containerd.cri.v1.runtime'.cni]
        bin_dirs = ['%6$s/cni']
        conf_dir = '%7$s'
      [plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc]
        runtime_type = 'io.containerd.runc.v2'
        [plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc.options]
          BinaryName = '%6$s/runc'
          Root = '%9$s'
          SystemdCgroup = false
    """
        .formatted(
            paths.containerd(),
            paths.containerdSocket(),
            paths.nriSocket(),
            Images.PAUSE,
            paths.cdi(),
            config.binaries(),
            paths.cniConfig(),
            snapshotter,
            paths.runc());
  }

  String cni() {
    return """
    {"cniVersion": "1.0.0", "name": "vgpu", "plugins": [{"type": "bridge", "bridge": "cni0", "isGateway": true, "hairpinMode": true,
     "ipam": {"type": "host-local", "dataDir": "%s", "ranges": [[{"subnet": "%s"}]], "routes": [{"dst": "0.0.0.0/0"}]}}]}
    """
        .formatted(paths.cniState(), NodeNetwork.POD_CIDR);
  }
}
