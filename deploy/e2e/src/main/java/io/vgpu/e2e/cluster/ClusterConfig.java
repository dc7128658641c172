package io.vgpu.e2e.cluster;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * What may differ between clusters. Immutable; {@link #defaults} and the {@code with…} methods make
 * variants. Addresses lie in a network of the cluster's own ({@code 10.77.0.0/24}), which exists
 * only between this machine and the namespace.
 *
 * @param nodeName name of the only node
 * @param binaries folder of the built binaries
 * @param runDir everything the cluster writes; short, because sockets lie in it
 * @param netns name of the network namespace
 * @param extender whether kube-scheduler asks an extender at 127.0.0.1:3456
 * @param extenderWeight factor of the extender's scores (D18: 10 as the chart does, 200 where our
 *     policy must win)
 * @param exampleFiles files added to the example image
 * @param nodeLabels labels that the kubelet registers the node with
 * @param featureGates gates set alike on apiserver, scheduler, controller-manager and kubelet
 */
public record ClusterConfig(
    String nodeName,
    Path binaries,
    Path runDir,
    String netns,
    boolean extender,
    int extenderWeight,
    List<ImageFile> exampleFiles,
    Map<String, String> nodeLabels,
    Map<String, Boolean> featureGates) {

  /** A file of this machine that shall lie in an image. */
  public record ImageFile(Path source, String target) {
    public ImageFile {
      if (!target.startsWith("/")) {
        throw new IllegalArgumentException("image file target '" + target + "': must be absolute");
      }
    }
  }

  /** Longest path that fits in a unix socket's address. */
  static final int SOCKET_PATH_MAX = 107;

  public ClusterConfig {
    if (!nodeName.matches("[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")) {
      throw new IllegalArgumentException(
          "node name '" + nodeName + "': must be a DNS label of at most 63 characters");
    }
    // the veth's host side is called NETNS-host, and interface names end at 15 characters
    if (!netns.matches("[a-z][a-z0-9-]{0,9}")) {
      throw new IllegalArgumentException(
          "network namespace '" + netns + "': must be 1 to 10 letters, digits or '-'");
    }
    if (extenderWeight < 1) {
      throw new IllegalArgumentException("extender weight " + extenderWeight + ": at least 1");
    }
    runDir = runDir.toAbsolutePath().normalize();
    if (!runDir.toString().matches("/[A-Za-z0-9._/@+-]*")) {
      throw new IllegalArgumentException(
          "run folder '" + runDir + "': letters, digits and ._/@+- only");
    }
    int longest = new ClusterPaths(runDir).longestSocketPath();
    if (longest > SOCKET_PATH_MAX) {
      throw new IllegalArgumentException(
          "run folder '%s': too long by %d characters for the sockets in it"
              .formatted(runDir, longest - SOCKET_PATH_MAX));
    }
    exampleFiles = List.copyOf(exampleFiles);
    nodeLabels = Map.copyOf(nodeLabels);
    featureGates = Map.copyOf(featureGates);
  }

  /**
   * Node {@code gpu-node-0}, extender on with weight 10, run folder and namespace of {@code make
   * cluster}.
   */
  public static ClusterConfig defaults(Path binaries) {
    return new ClusterConfig(
        "gpu-node-0", binaries, defaultRunDir(), "vgpu", true, 10, List.of(), Map.of(), Map.of());
  }

  static Path defaultRunDir() {
    return Path.of(System.getProperty("user.home"), ".cache", "vgpu-manager", "run");
  }

  public ClusterPaths paths() {
    return new ClusterPaths(runDir);
  }

  /** The node's address, where apiserver and kubelet listen; reachable from this machine too. */
  public String nodeIp() {
    return "10.77.0.1";
  }

  /** This machine's address in the cluster's network. */
  public String hostIp() {
    return "10.77.0.253";
  }

  public String apiServerUrl() {
    return "https://" + nodeIp() + ":6443";
  }

  public String kubeletUrl() {
    return "https://" + nodeIp() + ":10250";
  }

  public ClusterConfig withNodeName(String name) {
    return new ClusterConfig(
        name,
        binaries,
        runDir,
        netns,
        extender,
        extenderWeight,
        exampleFiles,
        nodeLabels,
        featureGates);
  }

  public ClusterConfig withRunDir(Path folder) {
    return new ClusterConfig(
        nodeName,
        binaries,
        folder,
        netns,
        extender,
        extenderWeight,
        exampleFiles,
        nodeLabels,
        featureGates);
  }

  public ClusterConfig withNetns(String name) {
    return new ClusterConfig(
        nodeName,
        binaries,
        runDir,
        name,
        extender,
        extenderWeight,
        exampleFiles,
        nodeLabels,
        featureGates);
  }

  public ClusterConfig withoutExtender() {
    return new ClusterConfig(
        nodeName,
        binaries,
        runDir,
        netns,
        false,
        extenderWeight,
        exampleFiles,
        nodeLabels,
        featureGates);
  }

  public ClusterConfig withExtenderWeight(int weight) {
    return new ClusterConfig(
        nodeName, binaries, runDir, netns, true, weight, exampleFiles, nodeLabels, featureGates);
  }

  public ClusterConfig withExampleFiles(List<ImageFile> files) {
    return new ClusterConfig(
        nodeName,
        binaries,
        runDir,
        netns,
        extender,
        extenderWeight,
        files,
        nodeLabels,
        featureGates);
  }

  public ClusterConfig withNodeLabel(String key, String value) {
    Map<String, String> labels = new TreeMap<>(nodeLabels);
    labels.put(key, value);
    return new ClusterConfig(
        nodeName,
        binaries,
        runDir,
        netns,
        extender,
        extenderWeight,
        exampleFiles,
        labels,
        featureGates);
  }

  public ClusterConfig withFeatureGate(String gate, boolean on) {
    Map<String, Boolean> gates = new TreeMap<>(featureGates);
    gates.put(gate, on);
    return new ClusterConfig(
        nodeName,
        binaries,
        runDir,
        netns,
        extender,
        extenderWeight,
        exampleFiles,
        nodeLabels,
        gates);
  }
}
