package io.vgpu.e2e.product;

import io.vgpu.e2e.cluster.Cluster;
import io.vgpu.e2e.cluster.Pki.KeyPairFiles;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** The command line of each part, as a manifest would have it, with this cluster's paths. */
final class CommandLines {
  private final Cluster cluster;
  private final Checkout checkout;

  CommandLines(Cluster cluster, Checkout checkout) {
    this.cluster = cluster;
    this.checkout = checkout;
  }

  /** The file of the seal's keys. */
  Path claimKey() {
    return cluster.paths().runDir().resolve("claim.key");
  }

  Path managerDir() {
    return cluster.paths().runDir().resolve("manager");
  }

  Path usageDir() {
    return cluster.paths().runDir().resolve("usage");
  }

  List<String> of(OurPart part, ProductConfig config) {
    return switch (part) {
      case EXTENDER -> extender(config);
      case WEBHOOK ->
          control(
              part,
              "webhook",
              "--scheduler-name=vgpu-scheduler",
              "--bind-address=" + cluster.config().nodeIp(),
              "--cert-dir=" + certificates());
      case CONTROLLER ->
          control(
              part,
              "controller",
              "--namespace=" + OurPart.NAMESPACE,
              "--leader-identity-prefix=controller",
              "--ops-bind-address=" + cluster.config().nodeIp(),
              "--ops-bind-port=" + part.opsPort(),
              "--scheduler-urls=http://"
                  + cluster.config().nodeIp()
                  + ":"
                  + OurPart.EXTENDER.opsPort());
      case AGENT -> agent(config);
    };
  }

  /** An agent beside another one: the same but for the port of its metrics. */
  List<String> agent(ProductConfig config, int opsPort) {
    List<String> line = agent(config);
    line.add("--ops-bind-port=" + opsPort);
    return line;
  }

  Map<String, String> environment(OurPart part) {
    return part == OurPart.AGENT
        ? Map.of("FAKE_GPUS", FakeNode.profileOf(cluster).toString())
        : Map.of();
  }

  private List<String> control(OurPart part, String command, String... flags) {
    List<String> line =
        new ArrayList<>(List.of(checkout.launcher("vgpu-control-plane").toString(), command));
    line.add("--kubeconfig=" + kubeconfig(part));
    line.addAll(List.of(flags));
    return line;
  }

  private List<String> extender(ProductConfig config) {
    List<String> line =
        control(
            OurPart.EXTENDER,
            "scheduler-extender",
            "--claim-key-file=" + claimKey(),
            "--ops-bind-address=" + cluster.config().nodeIp());
    line.addAll(config.extenderFlags());
    return line;
  }

  private List<String> agent(ProductConfig config) {
    Path run = cluster.paths().runDir();
    List<String> line = new ArrayList<>();
    if (config.tamper().isPresent()) {
      line.addAll(
          List.of(
              checkout.launcher("vgpu-e2e").toString(), "tampering-agent", config.tamper().get()));
    } else {
      line.add(checkout.launcher("vgpu-agent").toString());
    }
    line.add("node");
    line.add("--kubeconfig=" + kubeconfig(OurPart.AGENT));
    line.add("--node-name=" + cluster.config().nodeName());
    line.add("--claim-key-file=" + claimKey());
    line.add("--device-plugin-path=" + cluster.paths().devicePluginsDir());
    line.add("--pod-resources-socket=" + cluster.paths().podResourcesSocket());
    line.add("--kubelet-endpoint=" + cluster.config().nodeIp() + ":10250");
    line.add("--kubelet-ca-file=" + cluster.paths().caCertificate());
    line.add("--manager-dir=" + managerDir());
    line.add("--host-manager-dir=" + managerDir());
    line.add("--usage-dir=" + usageDir());
    line.add("--container-driver-root=" + run.resolve("driver-root"));
    line.add("--host-driver-root=" + run.resolve("driver-root"));
    line.add("--shim-library=" + checkout.shim("libvgpu-control.so"));
    line.add("--ops-bind-address=" + cluster.config().nodeIp());
    line.addAll(config.agentFlags());
    return line;
  }

  private Path kubeconfig(OurPart part) {
    return cluster.paths().kubeconfig(OurPart.NAMESPACE + "-" + part.account());
  }

  /** The webhook's certificate under the names that it looks for. */
  private Path certificates() {
    Path folder = cluster.paths().runDir().resolve("webhook-certs");
    KeyPairFiles pair = cluster.pki().server("webhook", List.of("IP:" + cluster.config().nodeIp()));
    try {
      Files.createDirectories(folder);
      Files.copy(
          pair.certificate(), folder.resolve("tls.crt"), StandardCopyOption.REPLACE_EXISTING);
      Files.copy(pair.key(), folder.resolve("tls.key"), StandardCopyOption.REPLACE_EXISTING);
    } catch (IOException e) {
      throw new UncheckedIOException("cannot write " + folder, e);
    }
    return folder;
  }
}
