package io.vgpu.agent;

import io.fabric8.kubernetes.client.KubernetesClientException;
import io.vertx.core.DeploymentOptions;
import io.vertx.core.ThreadingModel;
import io.vertx.core.Vertx;
import io.vgpu.agent.inject.CdiSpecs;
import io.vgpu.agent.kube.NodeMarks;
import io.vgpu.agent.kube.UnservedResources;
import io.vgpu.agent.kubelet.DeadSockets;
import io.vgpu.agent.notes.Tenure;
import io.vgpu.agent.posix.Mounts;
import io.vgpu.agent.shim.NodeFolders;
import io.vgpu.agent.shim.ShimPaths;
import io.vgpu.claim.Names;
import io.vgpu.kube.KubeClient;
import io.vgpu.runtime.Logging;
import io.vgpu.runtime.UsageException;
import io.vgpu.runtime.Version;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/**
 * {@code vgpu-agent uninstall}: takes all that agents have left on this node away: the node's
 * annotations, labels and resources, files, sockets, CDI specs and the tmpfs. To be run on the node
 * after its agent has gone for good; an update leaves everything where it is.
 */
@Command(
    name = "uninstall",
    description =
        "Takes everything that the agent left off this node: after its agent has gone for good.",
    mixinStandardHelpOptions = true,
    versionProvider = Version.class,
    showDefaultValues = true)
final class UninstallCommand implements Callable<Integer> {
  /** The kubelet writes resources back for five minutes after their plugin has gone. */
  private static final Duration PAUSE = Duration.ofSeconds(5);

  private static final Duration RESOURCES_LIMIT = Duration.ofMinutes(15);

  @Option(
      names = "--kubeconfig",
      paramLabel = "FILE",
      description = "how to reach the API server; none: as a pod in the cluster")
  @Nullable Path kubeconfig;

  @Option(names = "--domain", description = "prefix of our resources, annotations and labels")
  String domain = Names.DEFAULT_DOMAIN;

  @Option(
      names = "--node-name",
      required = true,
      description = "name of this node (environment: NODE_NAME)")
  String nodeName = "";

  @Option(names = "--manager-dir", description = "the manager's folder, as this process sees it")
  Path managerDir = Path.of("/etc/vgpu-manager");

  @Option(names = "--usage-dir", description = "where the agent kept its tmpfs")
  Path usageDir = Path.of("/run/vgpu-manager");

  @Option(names = "--device-plugin-path", description = "folder of the kubelet's plugin sockets")
  Path devicePluginPath = Path.of("/var/lib/kubelet/device-plugins/");

  @Option(names = "--cdi-root", description = "folder of CDI specs")
  Path cdiRoot = Path.of("/var/run/cdi");

  @Option(
      names = "--force",
      description = "also while pods hold vGPUs: their containers cannot start again afterwards")
  boolean force;

  @Option(
      names = "--wait-resources",
      arity = "1",
      description =
          "wait until the kubelet no longer writes our resources into the node's status (up to 15m)")
  boolean waitResources = true;

  @Spec private @Nullable CommandSpec spec;

  private void say(String text) {
    CommandSpec command = spec;
    if (command != null) {
      PrintWriter out = command.commandLine().getOut();
      out.println(text);
      out.flush();
    }
  }

  @Override
  public Integer call() throws Exception {
    Logging.configure(0);
    Names names = new Names(domain);
    try (Tenure tenure = new Tenure(managerDir.resolve("checkpoints").resolve("tenure"));
        KubeClient kube = KubeClient.open(kubeconfig, null, Duration.ofSeconds(30))) {
      NodeMarks marks = new NodeMarks(kube.get(), nodeName, names);
      List<String> holders = marks.holders();
      if (!holders.isEmpty() && !force) {
        throw new UsageException(
            "pods on node %s still hold vGPUs: %s. Delete them first, or say --force: then their containers cannot start again"
                .formatted(nodeName, String.join(", ", holders)));
      }
      nobodyServes(tenure);
      List<String> keys = marks.remove();
      say(keys.isEmpty() ? "node: no mark of ours" : "node: removed " + String.join(", ", keys));
      removeFiles();
      removeResources(kube, marks.resources());
      return 0;
    } catch (KubernetesClientException e) {
      throw new UsageException("API server: " + e.getMessage());
    }
  }

  private void nobodyServes(Tenure tenure) throws IOException {
    var unused =
        tenure.await(
            () -> {
              throw new UsageException(
                  "--manager-dir %s: an agent serves this node; end it first"
                      .formatted(managerDir));
            });
  }

  private void removeFiles() throws IOException {
    DeadSockets.remove(devicePluginPath).forEach(file -> say("removed " + file));
    CdiSpecs.remove(cdiRoot).forEach(file -> say("removed " + file));
    List<Path> stay =
        new NodeFolders(new ShimPaths(managerDir, managerDir, usageDir))
            .remove(new Mounts()::endTmpfs);
    say("removed what was ours in %s and %s".formatted(managerDir, usageDir));
    stay.forEach(path -> say("not removed: " + path));
  }

  private void removeResources(KubeClient kube, List<String> resources) throws Exception {
    if (resources.isEmpty() || !waitResources) {
      return;
    }
    say("waiting until the kubelet forgets " + String.join(", ", resources));
    Vertx vertx = Vertx.vertx();
    try {
      UnservedResources work = new UnservedResources(kube.get(), nodeName, resources, PAUSE);
      vertx
          .deployVerticle(
              work, new DeploymentOptions().setThreadingModel(ThreadingModel.VIRTUAL_THREAD))
          .compose(id -> work.done())
          .toCompletionStage()
          .toCompletableFuture()
          .get(RESOURCES_LIMIT.toSeconds(), TimeUnit.SECONDS);
      say("resources: looked after");
    } catch (TimeoutException | ExecutionException e) {
      say("resources may stay in the node's status with 0: " + e);
    } finally {
      vertx.close().toCompletionStage().toCompletableFuture().get(10, TimeUnit.SECONDS);
    }
  }
}
