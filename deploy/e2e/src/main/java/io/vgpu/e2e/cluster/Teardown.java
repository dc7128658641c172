package io.vgpu.e2e.cluster;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Stops a cluster, whoever started it, from what it wrote down. Pods first, while the kubelet lives
 * (it alone unmounts and unplugs in order), then the parts, then what is left.
 */
final class Teardown {
  private static final Logger log = LoggerFactory.getLogger(Teardown.class);
  private static final Duration PODS_LIMIT = Duration.ofSeconds(30);
  private static final Duration PART_LIMIT = Duration.ofSeconds(10);

  private final ClusterPaths paths;
  private final String netns;
  private final String apiServerUrl;
  private final Progress progress;

  Teardown(ClusterPaths paths, String netns, String apiServerUrl, Progress progress) {
    this.paths = paths;
    this.netns = netns;
    this.apiServerUrl = apiServerUrl;
    this.progress = progress;
  }

  void run() {
    recorded(Part.CONTROLLER_MANAGER).ifPresent(RecordedProcess::kill9); // else it makes pods anew
    if (isAlive(Part.APISERVER)
        && isAlive(Part.ETCD)
        && isAlive(Part.KUBELET)
        && isAlive(Part.CONTAINERD)) {
      deletePods();
    }
    for (RecordedProcess process : RecordedProcess.in(paths.pidFiles())) {
      boolean holdsState = // which is thrown away: no need to let them write it out
          process.name().equals(Part.APISERVER.binary())
              || process.name().equals(Part.ETCD.binary());
      if (!holdsState) {
        process.stop(PART_LIMIT);
      }
    }
    RecordedProcess.in(paths.pidFiles()).forEach(RecordedProcess::kill9);
    new Leftovers(paths, netns).remove();
    MachineMarker.remove();
    progress.step("stopped; logs stay in " + paths.logs());
  }

  private void deletePods() {
    try (KubernetesClient client = AdminClient.create(apiServerUrl, paths)) {
      // a webhook or policy of ours whose server has ended would refuse the deletes
      client.admissionRegistration().v1().mutatingWebhookConfigurations().delete();
      client.admissionRegistration().v1().validatingWebhookConfigurations().delete();
      List<Pod> pods = client.pods().inAnyNamespace().list().getItems();
      for (Pod pod : pods) {
        client.resource(pod).withGracePeriod(1).delete();
      }
      // not until the API has forgotten them: a Job's pods wait for the controller-manager, which
      // is gone
      Leftovers leftovers = new Leftovers(paths, netns);
      if (!Await.holdsWithin(PODS_LIMIT, () -> leftovers.shims().isEmpty())) {
        log.warn(
            "containers still run, going on without the kubelet's help [limit: {}]", PODS_LIMIT);
      } else if (!pods.isEmpty()) {
        progress.step(pods.size() + " pods ended");
      }
    } catch (KubernetesClientException e) {
      log.warn(
          "apiserver does not delete the pods, going on without it [reason: {}]", e.getMessage());
    }
  }

  private boolean isAlive(Part part) {
    return recorded(part).filter(RecordedProcess::isAlive).isPresent();
  }

  private Optional<RecordedProcess> recorded(Part part) {
    Path pidFile = paths.pidFile(part.binary());
    return RecordedProcess.read(pidFile);
  }
}
