package io.vgpu.e2e.cluster;

import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * {@code make cluster}, {@code make cluster-stop} and their kin: a cluster from the command line.
 */
@Command(
    name = "cluster",
    description = "A real one-node Kubernetes cluster on this machine.",
    mixinStandardHelpOptions = true,
    subcommands = {
      ClusterMain.Start.class,
      ClusterMain.Stop.class,
      ClusterMain.Status.class,
      ClusterMain.Kubeconfig.class
    })
public final class ClusterMain {
  /** Turns what the cluster refuses into one line and exit status 1. */
  private abstract static class SubCommand implements Callable<Integer> {
    abstract int run();

    @Override
    public Integer call() {
      try {
        return run();
      } catch (ClusterException e) {
        System.err.println("cluster: " + e.getMessage());
        return 1;
      }
    }
  }

  @Command(name = "start", description = "Starts it and returns when pods can be made.")
  static final class Start extends SubCommand {
    @Option(
        names = "--run-dir",
        defaultValue = "${env:VGPU_RUN_DIR}",
        description =
            "Folder of its state, logs and sockets (VGPU_RUN_DIR; ~/.cache/vgpu-manager/run).")
    private @Nullable Path runDir;

    @Option(names = "--bin-dir", description = "Folder of the binaries; built when left out.")
    private @Nullable Path binDir;

    @Option(
        names = "--node-name",
        defaultValue = "gpu-node-0",
        description = "Name of the node (${DEFAULT-VALUE}).")
    private String nodeName = "gpu-node-0";

    @Option(
        names = "--netns",
        defaultValue = "vgpu",
        description = "Network namespace (${DEFAULT-VALUE}).")
    private String netns = "vgpu";

    @Option(names = "--no-extender", description = "kube-scheduler asks no extender.")
    private boolean noExtender;

    @Option(
        names = "--extender-weight",
        defaultValue = "10",
        description = "Factor of the extender's scores (${DEFAULT-VALUE}).")
    private int extenderWeight = 10;

    @Override
    int run() {
      Progress progress = Progress.to(System.out);
      ClusterConfig config =
          ClusterConfig.defaults(binDir == null ? ClusterBinaries.locate() : binDir)
              .withNodeName(nodeName)
              .withNetns(netns)
              .withExtenderWeight(extenderWeight);
      config = runDir == null ? config : config.withRunDir(runDir);
      config = noExtender ? config.withoutExtender() : config;
      Cluster cluster = Cluster.startDetached(config, progress);
      for (Part part : new Part[] {Part.KUBELET, Part.CONTAINERD}) {
        ProcessId id = cluster.part(part).id().orElseThrow();
        System.out.printf("%s pid %d %s%n", part, id.pid(), id.executable().orElseThrow());
      }
      System.out.println("use it:  export KUBECONFIG=" + cluster.paths().adminKubeconfig());
      System.out.println("         " + config.binaries().resolve("kubectl") + " get nodes");
      cluster.client().close();
      return 0;
    }
  }

  @Command(name = "stop", description = "Stops it and leaves nothing behind but logs.")
  static final class Stop extends SubCommand {
    @Override
    int run() {
      if (!Cluster.stopRecorded(Progress.to(System.out))) {
        System.out.println("no cluster runs on this machine");
      }
      return 0;
    }
  }

  @Command(
      name = "status",
      description = "Says which parts run; exit status 3 when none is to run.")
  static final class Status extends SubCommand {
    @Override
    int run() {
      Optional<MachineMarker> marker = MachineMarker.read();
      if (marker.isEmpty()) {
        System.out.println("no cluster runs on this machine");
        return 3;
      }
      ClusterPaths paths = new ClusterPaths(marker.get().runDir());
      System.out.println("run folder " + paths.runDir());
      for (RecordedProcess process : RecordedProcess.in(paths.pidFiles())) {
        System.out.printf(
            "%-26s %s%n",
            process.name(),
            process
                .id()
                .executable()
                .map(exe -> "pid " + process.id().pid() + " " + exe)
                .orElse("dead"));
      }
      return 0;
    }
  }

  @Command(name = "kubeconfig", description = "Prints the path of the administrator's kubeconfig.")
  static final class Kubeconfig extends SubCommand {
    @Override
    int run() {
      return MachineMarker.read()
          .map(
              marker -> {
                System.out.println(new ClusterPaths(marker.runDir()).adminKubeconfig());
                return 0;
              })
          .orElseGet(
              () -> {
                System.err.println("cluster: none runs on this machine; start one: make cluster");
                return 3;
              });
    }
  }
}
