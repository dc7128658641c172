package io.vgpu.e2e.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.vgpu.e2e.junit.RealCluster;
import io.vgpu.e2e.junit.TestNamespace;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/**
 * The cluster is what it claims to be: real parts, which can be killed and come back without harm
 * to the pods.
 */
@RealCluster
class ClusterIT {
  private final Cluster cluster;
  private final String namespace;

  ClusterIT(Cluster cluster, TestNamespace namespace) {
    this.cluster = cluster;
    this.namespace = namespace.name();
  }

  @Test
  void nodeRunsTheVersionsThatWereBuilt() {
    var info = cluster.node().getStatus().getNodeInfo();
    assertThat(Cluster.isReady(cluster.node())).isTrue();
    assertThat(info.getKubeletVersion()).isEqualTo(cluster.versions().get("kubernetes"));
    assertThat("v" + info.getContainerRuntimeVersion().replace("containerd://", ""))
        .isEqualTo(cluster.versions().get("containerd"));
  }

  @Test
  void kubeletAndContainerdAreTheBuiltExecutables() {
    for (Part part : List.of(Part.KUBELET, Part.CONTAINERD)) {
      ProcessId id = cluster.part(part).id().orElseThrow();
      assertThat(id.executable()).contains(cluster.config().binaries().resolve(part.binary()));
    }
  }

  @Test
  void podOfTheExampleImageRunsToItsEndAndItsLogCanBeRead() {
    create("once", "echo \"uid $(id -u) on $(uname -s)\"; ls /bin/sh; stat -c %F /dev/null");
    awaitPhase("once", "Succeeded");
    assertThat(log("once")).isEqualTo("uid 0 on Linux\n/bin/sh\ncharacter special file\n");
  }

  @Test
  void podReachesTheApiAndNothingOutside() {
    create(
        "net",
        "for a in 10.96.0.1/443 10.77.0.1/6443 192.0.2.1/80; do"
            + " timeout 10 bash -c \"exec 3<>/dev/tcp/$a\" 2>/dev/null && echo yes || echo no; done");
    awaitPhase("net", "Succeeded");
    assertThat(log("net")).isEqualTo("yes\nyes\nno\n");
  }

  @Test
  void podOutlivesKubeletAndContainerd() {
    create("survivor", "sleep 1000");
    awaitPhase("survivor", "Running");
    ContainerStatus before = container("survivor");
    cluster.kill9(Part.KUBELET);
    cluster.kill9(Part.CONTAINERD);
    assertThat(cluster.part(Part.KUBELET).isAlive()).isFalse();
    cluster.restart(Part.CONTAINERD);
    cluster.restart(Part.KUBELET);
    cluster.awaitNodeReady();
    create("later", "true"); // the kubelet has synchronised its pods before it runs a new one
    awaitPhase("later", "Succeeded");
    assertThat(container("survivor").getContainerID()).isEqualTo(before.getContainerID());
    assertThat(container("survivor").getRestartCount()).isZero();
  }

  @Test
  void apiserverAndEtcdComeBackWithWhatTheyKnew() {
    create("known", "sleep 1000");
    awaitPhase("known", "Running");
    String uid = pod("known").getMetadata().getUid();
    cluster.kill9(Part.APISERVER);
    cluster.kill9(Part.ETCD);
    cluster.reviveParts();
    assertThat(pod("known").getMetadata().getUid()).isEqualTo(uid);
    create("after", "true"); // scheduler, controllers and kubelet have found the new apiserver
    awaitPhase("after", "Succeeded");
  }

  @Test
  void accountHasItsOwnNameAndOnlyItsOwnRights() {
    Path kubeconfig = cluster.serviceAccounts().kubeconfigFor(namespace, "nobody");
    Config config = Config.fromKubeconfig(kubeconfig.toFile());
    long position = cluster.auditLog().position();
    try (KubernetesClient client = new KubernetesClientBuilder().withConfig(config).build()) {
      assertThatThrownBy(() -> client.nodes().withName(cluster.config().nodeName()).get())
          .isInstanceOfSatisfying(
              KubernetesClientException.class, e -> assertThat(e.getCode()).isEqualTo(403));
    }
    assertThat(cluster.auditLog().since(position))
        .filteredOn(r -> r.user().equals("system:serviceaccount:" + namespace + ":nobody"))
        .singleElement()
        .satisfies(
            r -> {
              assertThat(r.verb()).isEqualTo("get");
              assertThat(r.resource()).isEqualTo("nodes");
              assertThat(r.status()).isEqualTo(403);
            });
  }

  @Test
  void processInTheNamespaceIsKilledAndStartedAgainUnderItsName() {
    ManagedProcess process =
        cluster.startProcess("sleeper", List.of("/bin/sleep", "1000"), Map.of());
    ProcessId first = process.id().orElseThrow();
    process.kill9();
    assertThat(first.isAlive()).isFalse();
    process.start();
    assertThat(process.id()).get().isNotEqualTo(first);
    cluster.stopProcesses();
    assertThat(process.isAlive()).isFalse();
    assertThat(cluster.process("sleeper")).isEmpty();
  }

  private void create(String name, String script) {
    cluster
        .client()
        .resource(
            new PodBuilder()
                .withNewMetadata()
                .withNamespace(namespace)
                .withName(name)
                .endMetadata()
                .withNewSpec()
                .withRestartPolicy("Never")
                .withTerminationGracePeriodSeconds(1L)
                .addNewContainer()
                .withName("main")
                .withImage(Images.EXAMPLE)
                .withCommand("bash", "-c", script)
                .endContainer()
                .endSpec()
                .build())
        .create();
  }

  private void awaitPhase(String name, String phase) {
    cluster
        .client()
        .pods()
        .inNamespace(namespace)
        .withName(name)
        .waitUntilCondition(
            pod -> pod != null && phase.equals(pod.getStatus().getPhase()), 60, TimeUnit.SECONDS);
  }

  private Pod pod(String name) {
    return cluster.client().pods().inNamespace(namespace).withName(name).get();
  }

  private ContainerStatus container(String name) {
    return pod(name).getStatus().getContainerStatuses().getFirst();
  }

  private String log(String name) {
    return cluster.client().pods().inNamespace(namespace).withName(name).getLog();
  }
}
