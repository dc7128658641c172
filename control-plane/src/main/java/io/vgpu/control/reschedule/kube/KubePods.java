package io.vgpu.control.reschedule.kube;

import io.fabric8.kubernetes.api.model.ListOptionsBuilder;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.api.model.SecretList;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.vgpu.claim.Names;
import io.vgpu.control.reschedule.CardsToLeave;
import io.vgpu.control.reschedule.FailedPod;
import io.vgpu.control.reschedule.LivePod;
import io.vgpu.control.reschedule.PodCopies;
import io.vgpu.control.reschedule.PodsApi;
import io.vgpu.control.reschedule.StoredCopy;
import io.vgpu.model.PodRef;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/**
 * {@link PodsApi} by fabric8. Pods go through as raw JSON, so that the copy holds every field of
 * the original, also those that our model of a pod lacks.
 */
public final class KubePods implements PodsApi {
  private static final Logger log = LoggerFactory.getLogger(KubePods.class);
  private static final JsonMapper JSON = JsonMapper.builder().build();
  private static final long COPIES_A_PAGE = 50;

  private final KubernetesClient client;
  private final Names names;
  private final FailedPods slim;
  private final String copiesNamespace;
  private final Clock clock;

  /** {@code copiesNamespace}: where copies wait, as Secrets. */
  public KubePods(
      KubernetesClient client,
      Names names,
      CardsToLeave cards,
      String copiesNamespace,
      Clock clock) {
    this.clock = clock;
    this.client = client;
    this.names = names;
    this.slim = new FailedPods(names, cards);
    this.copiesNamespace = copiesNamespace;
  }

  @Override
  public Optional<LivePod> get(String namespace, String name) {
    return call("read pod " + namespace + "/" + name, () -> read(path(namespace, name)))
        .map(this::live);
  }

  /** The pods of a node; throws {@link ApiFault}. */
  List<FailedPod> on(String node) {
    return call(
        "read the pods of node " + node,
        () ->
            client
                .pods()
                .inAnyNamespace()
                .withField("spec.nodeName", node)
                .list()
                .getItems()
                .stream()
                .map(slim::of)
                .toList());
  }

  private Optional<String> read(String path) {
    try {
      return Optional.ofNullable(client.raw(path, "GET", null));
    } catch (KubernetesClientException e) {
      if (e.getCode() == 404) {
        return Optional.empty();
      }
      throw e;
    }
  }

  private LivePod live(String json) {
    Pod pod = client.getKubernetesSerialization().unmarshal(json, Pod.class);
    ObjectNode raw = (ObjectNode) JSON.readTree(json);
    FailedPod record = slim.of(pod);
    ObjectMeta meta = pod.getMetadata();
    return new LivePod(
        record,
        meta.getResourceVersion(),
        Optional.ofNullable(FailedPods.annotations(meta).get(Names.REPLACES)),
        PodCopies.of(raw, names, record.replacementsInARow(clock.instant())).toString());
  }

  @Override
  public Removal delete(PodRef pod, String resourceVersion) {
    ObjectNode options = JSON.createObjectNode();
    options.put("apiVersion", "v1").put("kind", "DeleteOptions");
    options
        .putObject("preconditions")
        .put("uid", pod.uid())
        .put("resourceVersion", resourceVersion);
    return removal(
        "delete pod " + pod, path(pod.namespace(), pod.name()), "DELETE", options.toString());
  }

  @Override
  public Removal evict(PodRef pod) {
    ObjectNode eviction = JSON.createObjectNode();
    eviction.put("apiVersion", "policy/v1").put("kind", "Eviction");
    eviction.putObject("metadata").put("name", pod.name()).put("namespace", pod.namespace());
    eviction.putObject("deleteOptions").putObject("preconditions").put("uid", pod.uid());
    return removal(
        "evict pod " + pod,
        path(pod.namespace(), pod.name()) + "/eviction",
        "POST",
        eviction.toString());
  }

  private Removal removal(String what, String path, String method, String body) {
    return call(
        what,
        () -> {
          try {
            client.raw(path, method, body);
            return Removal.ACCEPTED;
          } catch (KubernetesClientException e) {
            return switch (e.getCode()) {
              case 404, 409 -> Removal.CHANGED;
              case 429 -> Removal.REFUSED_NOW;
              default -> throw e;
            };
          }
        });
  }

  @Override
  public Creation create(StoredCopy copy) {
    String namespace = copy.original().namespace();
    return call(
        "make pod " + copy.original() + " again",
        () -> {
          try {
            String made =
                client.raw("/api/v1/namespaces/" + namespace + "/pods", "POST", copy.json());
            String uid = JSON.readTree(made).path("metadata").path("uid").asString("");
            return new Creation.Made(new PodRef(namespace, copy.original().name(), uid));
          } catch (KubernetesClientException e) {
            return refusal(e);
          }
        });
  }

  private static Creation refusal(KubernetesClientException e) {
    String text = said(e);
    return switch (e.getCode()) {
      case 409 -> {
        if ("AlreadyExists".equals(reason(e))) {
          yield new Creation.NameTaken();
        }
        throw e; // a quota that changed meanwhile
      }
      case 404 -> new Creation.NoNamespace();
      case 403 ->
          text.contains("because it is being terminated")
              ? new Creation.NoNamespace()
              : new Creation.Refused(text);
      case 400, 422 -> new Creation.Refused(text);
      default -> throw e;
    };
  }

  @Override
  public void store(StoredCopy copy) {
    Secret secret = CopySecrets.encode(copy, copiesNamespace);
    call(
        "keep a copy of pod " + copy.original(),
        () -> {
          try {
            return client.resource(secret).create();
          } catch (KubernetesClientException e) {
            if (e.getCode() == 409) {
              // not the client's update: that reads first, and we may not
              return client.raw(
                  "/api/v1/namespaces/"
                      + copiesNamespace
                      + "/secrets/"
                      + secret.getMetadata().getName(),
                  "PUT",
                  secret);
            }
            throw e;
          }
        });
  }

  @Override
  public void forget(PodRef original) {
    call(
        "let go of the copy of pod " + original,
        () ->
            client
                .secrets()
                .inNamespace(copiesNamespace)
                .withName(CopySecrets.name(original))
                .delete());
  }

  @Override
  public List<StoredCopy> storedFor(String namespace, String name) {
    return copies(CopySecrets.OF_NAME_LABEL + "=" + CopySecrets.ofName(namespace, name));
  }

  @Override
  public List<StoredCopy> stored() {
    return copies(CopySecrets.OF_NAME_LABEL);
  }

  private List<StoredCopy> copies(String selector) {
    List<StoredCopy> copies = new ArrayList<>();
    String next = "";
    do {
      String from = next;
      SecretList page =
          call(
              "read the copies",
              () ->
                  client
                      .secrets()
                      .inNamespace(copiesNamespace)
                      .list(
                          new ListOptionsBuilder()
                              .withLabelSelector(selector)
                              .withLimit(COPIES_A_PAGE)
                              .withContinue(from.isEmpty() ? null : from)
                              .build()));
      for (Secret secret : page.getItems()) {
        Optional<StoredCopy> copy = CopySecrets.decode(secret);
        if (copy.isEmpty()) {
          log.error(
              "a kept copy cannot be read and stays where it is [secret: {}/{}]",
              copiesNamespace,
              secret.getMetadata().getName());
        }
        copy.ifPresent(copies::add);
      }
      next = Optional.ofNullable(page.getMetadata().getContinue()).orElse("");
    } while (!next.isEmpty());
    return List.copyOf(copies);
  }

  private static String path(String namespace, String name) {
    return "/api/v1/namespaces/" + namespace + "/pods/" + name;
  }

  private static <T> T call(String what, Supplier<T> request) {
    try {
      return request.get();
    } catch (KubernetesClientException e) {
      throw new ApiFault(what + ": " + e.getCode() + " " + said(e), e);
    }
  }

  private static String reason(KubernetesClientException e) {
    return e.getStatus() == null || e.getStatus().getReason() == null
        ? ""
        : e.getStatus().getReason();
  }

  private static String said(KubernetesClientException e) {
    return e.getStatus() != null && e.getStatus().getMessage() != null
        ? e.getStatus().getMessage()
        : String.valueOf(e.getMessage());
  }
}
