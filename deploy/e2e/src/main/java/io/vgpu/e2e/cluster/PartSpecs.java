package io.vgpu.e2e.cluster;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** The command line of each real part. Pure. */
final class PartSpecs {
  private final ClusterConfig config;
  private final ClusterPaths paths;

  PartSpecs(ClusterConfig config) {
    this.config = config;
    this.paths = config.paths();
  }

  ProcessSpec of(Part part) {
    List<String> command = new ArrayList<>();
    command.add(config.binaries().resolve(part.binary()).toString());
    command.addAll(
        switch (part) {
          case ETCD -> etcd();
          case CONTAINERD -> List.of("--config", paths.config("containerd.toml").toString());
          case APISERVER -> apiServer();
          case CONTROLLER_MANAGER -> controllerManager();
          case SCHEDULER -> scheduler();
          case KUBELET -> kubelet();
        });
    // containerd looks for its shim, and the kubelet for iptables and mount, on PATH
    String path =
        config.binaries() + ":/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
    return new ProcessSpec(
        part.binary(),
        command,
        Map.of("PATH", path),
        paths.log(part.binary()),
        paths.pidFile(part.binary()));
  }

  private List<String> etcd() {
    String client = "http://127.0.0.1:2379";
    String peer = "http://127.0.0.1:2380";
    return List.of(
        "--name",
        "e",
        "--data-dir",
        paths.etcd().toString(),
        "--unsafe-no-fsync",
        "--listen-client-urls",
        client,
        "--advertise-client-urls",
        client,
        "--listen-peer-urls",
        peer,
        "--initial-advertise-peer-urls",
        peer,
        "--initial-cluster",
        "e=" + peer,
        "--log-level",
        "warn");
  }

  private List<String> apiServer() {
    return withGates(
        List.of(
            "--etcd-servers=http://127.0.0.1:2379",
            "--secure-port=6443",
            "--advertise-address=" + config.nodeIp(),
            "--service-cluster-ip-range=" + NodeNetwork.SERVICE_CIDR,
            "--tls-cert-file=" + pki("apiserver.crt"),
            "--tls-private-key-file=" + pki("apiserver.key"),
            "--client-ca-file=" + pki("ca.crt"),
            "--authorization-mode=Node,RBAC",
            "--anonymous-auth=false",
            "--enable-admission-plugins=NodeRestriction",
            "--service-account-issuer=https://kubernetes.default.svc",
            "--service-account-signing-key-file=" + pki("sa.key"),
            "--service-account-key-file=" + pki("sa.pub"),
            "--kubelet-client-certificate=" + pki("apiserver-kubelet-client.crt"),
            "--kubelet-client-key=" + pki("apiserver-kubelet-client.key"),
            "--kubelet-certificate-authority=" + pki("ca.crt"),
            // else the node's host name is looked up first, which times out here
            "--kubelet-preferred-address-types=InternalIP",
            "--allow-privileged=true",
            "--profiling=false",
            "--audit-policy-file=" + paths.config("audit.yaml"),
            "--audit-log-path=" + paths.auditLog(),
            // no rotation: whoever counts requests must see all of them
            "--audit-log-maxsize=4096"));
  }

  private List<String> controllerManager() {
    String kubeconfig = paths.kubeconfig("controller-manager").toString();
    return withGates(
        List.of(
            "--kubeconfig=" + kubeconfig,
            "--authentication-kubeconfig=" + kubeconfig,
            "--authorization-kubeconfig=" + kubeconfig,
            "--service-account-private-key-file=" + pki("sa.key"),
            "--root-ca-file=" + pki("ca.crt"),
            "--use-service-account-credentials=true",
            "--leader-elect=false",
            // with the default of 20 requests/s the default service account comes seconds late
            "--kube-api-qps=500",
            "--kube-api-burst=1000"));
  }

  private List<String> scheduler() {
    String kubeconfig = paths.kubeconfig("scheduler").toString();
    return withGates(
        List.of(
            "--config=" + paths.config("scheduler.yaml"),
            "--authentication-kubeconfig=" + kubeconfig,
            "--authorization-kubeconfig=" + kubeconfig));
  }

  private List<String> kubelet() {
    List<String> flags =
        new ArrayList<>(
            List.of(
                // its log says when a plugin's devices came and went
                "--v=2",
                "--config=" + paths.config("kubelet.yaml"),
                "--kubeconfig=" + paths.kubeconfig("kubelet"),
                "--root-dir=" + paths.kubeletRoot(),
                "--cert-dir=" + paths.kubeletRoot().resolve("pki"),
                "--hostname-override=" + config.nodeName(),
                "--node-ip=" + config.nodeIp()));
    if (!config.nodeLabels().isEmpty()) {
      flags.add(
          "--node-labels="
              + new TreeMap<>(config.nodeLabels())
                  .entrySet().stream()
                      .map(label -> label.getKey() + "=" + label.getValue())
                      .collect(Collectors.joining(",")));
    }
    return flags;
  }

  private List<String> withGates(List<String> flags) {
    if (config.featureGates().isEmpty()) {
      return flags;
    }
    List<String> all = new ArrayList<>(flags);
    all.add(
        "--feature-gates="
            + new TreeMap<>(config.featureGates())
                .entrySet().stream()
                    .map(gate -> gate.getKey() + "=" + gate.getValue())
                    .collect(Collectors.joining(",")));
    return all;
  }

  private Path pki(String file) {
    return paths.pki().resolve(file);
  }
}
