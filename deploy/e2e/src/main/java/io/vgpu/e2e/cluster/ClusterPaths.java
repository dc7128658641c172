package io.vgpu.e2e.cluster;

import java.nio.file.Path;
import java.util.stream.Stream;

/** Where everything of a cluster lies. The only place that knows the layout of the run folder. */
public record ClusterPaths(Path runDir) {
  /** The kubelet's device-plugin folder: fixed, whatever its root folder is. */
  public static final Path DEVICE_PLUGINS = Path.of("/var/lib/kubelet/device-plugins");

  /** Says which cluster this machine runs, wherever its run folder lies. */
  static final Path MACHINE_MARKER = Path.of("/run/vgpu-manager-cluster");

  static final Path MACHINE_LOCK = Path.of("/run/vgpu-manager-cluster.lock");

  public Path adminKubeconfig() {
    return runDir.resolve("admin.kubeconfig");
  }

  public Path kubeconfig(String name) {
    return runDir.resolve("kubeconfig").resolve(name + ".kubeconfig");
  }

  public Path pki() {
    return runDir.resolve("pki");
  }

  /**
   * Certificate of the authority behind the servers' and clients' certificates, the kubelet's
   * included.
   */
  public Path caCertificate() {
    return pki().resolve("ca.crt");
  }

  public Path log(String name) {
    return logs().resolve(name + ".log");
  }

  public Path logs() {
    return runDir.resolve("log");
  }

  public Path podLogs() {
    return logs().resolve("pods");
  }

  public Path auditLog() {
    return logs().resolve("audit.log");
  }

  Path pidFiles() {
    return runDir.resolve("pid");
  }

  Path pidFile(String name) {
    return pidFiles().resolve(name + RecordedProcess.SUFFIX);
  }

  Path config(String file) {
    return runDir.resolve("config").resolve(file);
  }

  Path kernelSettings() {
    return runDir.resolve("kernel-settings");
  }

  Path cniConfig() {
    return runDir.resolve("cni");
  }

  Path cniState() {
    return runDir.resolve("cni-ipam");
  }

  public Path cdi() {
    return runDir.resolve("cdi");
  }

  Path etcd() {
    return runDir.resolve("etcd");
  }

  Path containerd() {
    return runDir.resolve("containerd");
  }

  public Path containerdSocket() {
    return runDir.resolve("containerd.sock");
  }

  public Path nriSocket() {
    return runDir.resolve("nri.sock");
  }

  Path runc() {
    return runDir.resolve("runc");
  }

  Path images() {
    return runDir.resolve("images");
  }

  /** The kubelet's {@code --root-dir}. */
  public Path kubeletRoot() {
    return runDir.resolve("kubelet");
  }

  public Path podResourcesSocket() {
    return kubeletRoot().resolve("pod-resources/kubelet.sock");
  }

  public Path pluginsRegistry() {
    return kubeletRoot().resolve("plugins_registry");
  }

  public Path devicePluginsDir() {
    return DEVICE_PLUGINS;
  }

  int longestSocketPath() {
    return Stream.of(
            containerdSocket().resolveSibling("containerd.sock.ttrpc"),
            nriSocket(),
            podResourcesSocket(),
            // room for a plugin's name
            pluginsRegistry().resolve("gpu.nvidia.com-0123456789-reg.sock"))
        .mapToInt(p -> p.toString().length())
        .max()
        .orElseThrow();
  }
}
