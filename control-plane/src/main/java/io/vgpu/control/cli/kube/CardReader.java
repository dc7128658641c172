package io.vgpu.control.cli.kube;

import io.fabric8.kubernetes.api.model.Event;
import io.fabric8.kubernetes.api.model.ListOptionsBuilder;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.vgpu.claim.FormatException;
import io.vgpu.claim.InventoryCodec;
import io.vgpu.claim.Names;
import io.vgpu.control.kube.HeldCards;
import io.vgpu.kube.KubeClient;
import io.vgpu.kube.MergePatch;
import io.vgpu.model.GpuUuid;
import io.vgpu.runtime.UsageException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/**
 * Reads a node's cards and who holds them, and writes the operator's word about them, with the
 * user's own rights. What the API server refuses is a {@link UsageException} with its words.
 */
public final class CardReader implements AutoCloseable {
  private static final JsonMapper JSON = JsonMapper.builder().build();
  private static final int SYSTEM_CRITICAL = 2_000_000_000;
  private static final String CONTROLLER = "vgpu-manager-controller";
  private static final long MAX_EVENTS = 200;
  private static final int CONFLICT = 409;

  private final KubeClient client;
  private final Names names;

  public CardReader(@Nullable Path kubeconfig, @Nullable String master, Names names) {
    this.client = KubeClient.open(kubeconfig, master, Duration.ofSeconds(10));
    this.names = names;
  }

  /** The node, if there is one of that name. */
  public Optional<CardFacts> read(String name) {
    Node node = call("node " + name, () -> client.get().nodes().withName(name).get());
    if (node == null) {
      return Optional.empty();
    }
    Map<String, String> annotations = map(node.getMetadata().getAnnotations());
    String register = annotations.get(names.nodeDeviceRegister());
    try {
      return Optional.of(
          new CardFacts(
              name,
              node.getMetadata().getResourceVersion(),
              register == null ? List.of() : InventoryCodec.decodeRegister(register),
              annotations.get(names.deviceCordon())));
    } catch (FormatException e) {
      throw new UsageException("node " + name + ": " + e.getMessage());
    }
  }

  /** Sets the annotation, or removes it; false when the node has changed since it was read. */
  public boolean write(CardFacts node, @Nullable String cordon) {
    ObjectNode patch = JSON.createObjectNode();
    ObjectNode metadata = patch.putObject("metadata").put("resourceVersion", node.version());
    metadata.putObject("annotations").put(names.deviceCordon(), cordon);
    try {
      MergePatch.send(client.get(), "/api/v1/nodes/" + node.node(), patch.toString());
      return true;
    } catch (KubernetesClientException e) {
      if (e.getCode() == CONFLICT) {
        return false;
      }
      throw new UsageException("node " + node.node() + ": " + e.getMessage());
    }
  }

  /** The pods of the node that hold any of the cards. */
  public List<Holder> holders(String node, Set<GpuUuid> cards) {
    return call(
            "pods of node " + node,
            () -> client.get().pods().inAnyNamespace().withField("spec.nodeName", node).list())
        .getItems()
        .stream()
        .map(this::holder)
        .filter(h -> h.cards().stream().anyMatch(cards::contains))
        .sorted(Comparator.comparing(Holder::namespace).thenComparing(Holder::name))
        .toList();
  }

  private Holder holder(Pod pod) {
    return new Holder(
        pod.getMetadata().getNamespace(),
        pod.getMetadata().getName(),
        pod.getMetadata().getUid(),
        HeldCards.of(pod, names),
        stays(pod),
        pod.getMetadata().getDeletionTimestamp() != null);
  }

  /** The same pods that the controller skips. */
  private static String stays(Pod pod) {
    Map<String, String> annotations = map(pod.getMetadata().getAnnotations());
    Integer priority = pod.getSpec() == null ? null : pod.getSpec().getPriority();
    boolean daemon =
        pod.getMetadata().getOwnerReferences().stream()
            .anyMatch(
                o ->
                    Boolean.TRUE.equals(o.getController())
                        && o.getKind().equals("DaemonSet")
                        && o.getApiVersion().startsWith("apps/"));
    if (daemon) {
      return "a DaemonSet's";
    }
    if (annotations.containsKey("kubernetes.io/config.mirror")
        || !annotations.getOrDefault("kubernetes.io/config.source", "api").equals("api")) {
      return "a static pod";
    }
    return priority != null && priority >= SYSTEM_CRITICAL ? "a critical pod" : "";
  }

  /** What the controller last said of a pod; empty when it said nothing. */
  public String lastWord(Holder pod) {
    return call(
            "events of pod " + pod.namespace() + "/" + pod.name(),
            () ->
                client
                    .get()
                    .v1()
                    .events()
                    .inNamespace(pod.namespace())
                    .withField("involvedObject.uid", pod.uid())
                    .list(new ListOptionsBuilder().withLimit(MAX_EVENTS).build()))
        .getItems()
        .stream()
        .filter(e -> e.getSource() != null && CONTROLLER.equals(e.getSource().getComponent()))
        .max(Comparator.comparing(CardReader::at))
        .map(e -> e.getReason() + ": " + e.getMessage())
        .orElse("");
  }

  private static String at(Event event) {
    String time = event.getLastTimestamp();
    return time == null ? "" : time;
  }

  private static <T> T call(String what, Supplier<T> request) {
    try {
      return request.get();
    } catch (KubernetesClientException e) {
      throw new UsageException(what + ": " + e.getMessage());
    }
  }

  private static Map<String, String> map(@Nullable Map<String, String> value) {
    return value == null ? Map.of() : value;
  }

  @Override
  public void close() {
    client.close();
  }
}
