package io.vgpu.agent;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Flags of the device plugin (node-agent.md 3.2, D21). */
final class PluginFlags {
  @Option(
      names = "--device-list-strategy",
      split = ",",
      description =
          "how a container is given its cards, one or more of: envvar, volume-mounts, cdi-annotations, cdi-cri")
  List<String> deviceListStrategy = List.of("envvar");

  @Option(names = "--device-split-count", description = "containers that may share a card")
  int deviceSplitCount = 10;

  @Option(
      names = "--device-cores-scaling",
      description = "factor on the compute of a card that may be promised")
  double deviceCoresScaling = 1.0;

  @Option(
      names = "--device-memory-scaling",
      description =
          "factor on the memory of a card that may be promised; above 1: oversubscription")
  double deviceMemoryScaling = 1.0;

  @Option(names = "--device-memory-factor", description = "MiB in one unit of vgpu-memory")
  int deviceMemoryFactor = 1;

  @Option(
      names = "--exclude-devices",
      description = "cards left out: comma list of indices, UUIDs and ranges a..b or a-b")
  String excludeDevices = "";

  @Option(names = "--device-plugin-path", description = "folder of the kubelet's plugin sockets")
  Path devicePluginPath = Path.of("/var/lib/kubelet/device-plugins/");

  @Option(
      names = "--pod-resources-socket",
      description = "where the kubelet tells who has which devices")
  Path podResourcesSocket = Path.of("/var/lib/kubelet/pod-resources/kubelet.sock");

  @Option(
      names = "--kubelet-endpoint",
      paramLabel = "HOST:PORT",
      description = "the kubelet's HTTPS server; empty: the node's own address, port 10250")
  String kubeletEndpoint = "";

  @Option(
      names = "--kubelet-ca-file",
      paramLabel = "FILE",
      description = "whom the kubelet's certificate must come from; none: the cluster's authority")
  @Nullable Path kubeletCaFile;

  @Option(
      names = "--claim-key-file",
      paramLabel = "FILE",
      description = "keys that seal claims, one a line, the current one first")
  @Nullable Path claimKeyFile;

  @Option(
      names = "--numa-hints",
      arity = "0..1",
      fallbackValue = "true",
      description = "tell the kubelet each device's NUMA node")
  boolean numaHints;

  @Option(
      names = "--host-driver-root",
      description = "root of the driver on the host (environment: NVIDIA_DRIVER_ROOT)")
  Path hostDriverRoot = Path.of("/");

  @Option(
      names = "--proc-root",
      description = "where the host's processes are: the agent shares its pid namespace")
  Path procRoot = Path.of("/proc");

  @Option(
      names = "--context-sample-interval",
      description = "how often the memory of containers' processes is read from the driver")
  Duration contextSampleInterval = Duration.ofMillis(300);

  @Option(names = "--manager-dir", description = "the manager's folder, as the agent sees it")
  Path managerDir = Path.of("/etc/vgpu-manager");

  @Option(
      names = "--host-manager-dir",
      description = "the same, as the host sees it (environment: HOST_MANAGER_DIR)")
  @Nullable Path hostManagerDir;

  @Option(
      names = "--usage-dir",
      description = "where the agent keeps its tmpfs, the same for agent and host")
  Path usageDir = Path.of("/run/vgpu-manager");

  @Option(
      names = "--shim-library",
      paramLabel = "FILE",
      description = "the library that goes into containers")
  Path shimLibrary = Path.of("/installed/libvgpu-control.so");

  @Option(
      names = "--open-kernel-modules",
      arity = "0..1",
      fallbackValue = "true",
      description = "accepted; both kinds of kernel module are handled alike")
  boolean openKernelModules;

  @Option(
      names = "--mig-strategy",
      description =
          "cards in MIG mode: none (left alone), mixed (slices beside shared cards) or single (only slices, all alike)")
  String migStrategy = "mixed";

  @Option(
      names = "--mps-devices",
      description =
          "cards partitioned in space by MPS, opt-in: all, or a comma list of indices, UUIDs and ranges a..b or a-b; cards in MIG mode never are")
  String mpsDevices = "";

  @Option(
      names = "--mps-control",
      paramLabel = "FILE",
      description = "the MPS daemon's program, below the driver root")
  Path mpsControl = Path.of("/usr/bin/nvidia-cuda-mps-control");

  @Option(
      names = "--gds-enabled",
      arity = "0..1",
      fallbackValue = "true",
      description = "let containers read storage straight into cards (GPUDirect Storage)")
  boolean gdsEnabled;

  @Option(
      names = "--mofed-enabled",
      arity = "0..1",
      fallbackValue = "true",
      description = "let containers reach cards from the network (Mellanox OFED)")
  boolean mofedEnabled;

  @Option(
      names = "--gdrcopy-enabled",
      arity = "0..1",
      fallbackValue = "true",
      description = "let containers map memory of cards (GDRCopy)")
  boolean gdrcopyEnabled;

  @Option(
      names = "--imex-channel-ids",
      description = "IMEX channels that containers with a card get: none, or 0")
  String imexChannelIds = "";

  @Option(
      names = "--imex-required",
      arity = "0..1",
      fallbackValue = "true",
      description = "do not start where a channel of --imex-channel-ids is missing")
  boolean imexRequired;

  @Option(names = "--cdi-root", description = "folder where container runtimes look for CDI specs")
  Path cdiRoot = Path.of("/var/run/cdi");

  @Option(
      names = "--cdi-annotation-prefix",
      description = "prefix of the annotation that names a container's CDI devices")
  String cdiAnnotationPrefix = "cdi.k8s.io/";
}
