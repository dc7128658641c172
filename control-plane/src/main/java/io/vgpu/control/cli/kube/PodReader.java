package io.vgpu.control.cli.kube;

import io.fabric8.kubernetes.api.model.Event;
import io.fabric8.kubernetes.api.model.ListOptionsBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodStatus;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.vgpu.claim.Names;
import io.vgpu.kube.KubeClient;
import io.vgpu.kube.PodDemands;
import io.vgpu.runtime.UsageException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Reads one pod and our events about it, with the user's own rights. */
public final class PodReader implements AutoCloseable {
  private static final Set<String> OURS =
      Set.of(Names.SCHEDULER_NAME, "vgpu-manager-controller", "vgpu-agent", "vgpu-manager-agent");
  private static final long MAX_EVENTS = 200;

  private final KubeClient client;
  private final Names names;

  public PodReader(@Nullable Path kubeconfig, @Nullable String master, Names names) {
    this.client = KubeClient.open(kubeconfig, master, Duration.ofSeconds(10));
    this.names = names;
  }

  /** What was decided about a pod, asked over the same connection. */
  public DecisionReader decisions(String namespace, String pod, String uid) {
    return new DecisionReader(client.get(), namespace, pod, uid);
  }

  /** The namespace of the kubeconfig's context. */
  public String defaultNamespace() {
    String namespace = client.get().getConfiguration().getNamespace();
    return namespace == null ? "default" : namespace;
  }

  /** The pod; throws {@link UsageException} with the API server's words when it refuses. */
  public Optional<PodFacts> read(String namespace, String name) {
    try {
      Pod pod = client.get().pods().inNamespace(namespace).withName(name).get();
      return pod == null ? Optional.empty() : Optional.of(facts(pod));
    } catch (KubernetesClientException e) {
      throw new UsageException("pod " + namespace + "/" + name + ": " + e.getMessage());
    }
  }

  private PodFacts facts(Pod pod) {
    PodStatus status = pod.getStatus() == null ? new PodStatus() : pod.getStatus();
    return new PodFacts(
        pod.getMetadata().getNamespace(),
        pod.getMetadata().getName(),
        pod.getMetadata().getUid(),
        text(pod.getSpec().getSchedulerName()),
        text(pod.getSpec().getNodeName()),
        text(status.getPhase()),
        text(status.getReason()),
        text(status.getMessage()),
        map(pod.getMetadata().getAnnotations()),
        map(pod.getMetadata().getLabels()),
        PodDemands.of(pod, names),
        events(pod));
  }

  private List<PodFacts.PodEvent> events(Pod pod) {
    return client
        .get()
        .v1()
        .events()
        .inNamespace(pod.getMetadata().getNamespace())
        .withField("involvedObject.uid", pod.getMetadata().getUid())
        .list(new ListOptionsBuilder().withLimit(MAX_EVENTS).build())
        .getItems()
        .stream()
        .filter(e -> OURS.contains(source(e)))
        .map(
            e -> new PodFacts.PodEvent(at(e), source(e), text(e.getReason()), text(e.getMessage())))
        .toList();
  }

  private static String source(Event event) {
    String source = event.getSource() == null ? "" : text(event.getSource().getComponent());
    return source.isEmpty() ? text(event.getReportingComponent()) : source;
  }

  private static Instant at(Event event) {
    String time =
        event.getLastTimestamp() != null
            ? event.getLastTimestamp()
            : event.getMetadata().getCreationTimestamp();
    return time == null ? Instant.EPOCH : Instant.parse(time);
  }

  private static String text(@Nullable String value) {
    return value == null ? "" : value;
  }

  private static Map<String, String> map(@Nullable Map<String, String> value) {
    return value == null ? Map.of() : value;
  }

  @Override
  public void close() {
    client.close();
  }
}
