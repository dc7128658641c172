package io.vgpu.control.kube;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.vgpu.kube.TokenBucket;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/**
 * {@link BindingApi} by fabric8, within the client limits of D20. The Binding goes to {@code
 * pods/binding}, for which {@code create} is all that is needed (identity-facts.md 4).
 */
public final class BindingPoster implements BindingApi {
  private static final JsonMapper JSON = JsonMapper.builder().build();
  private static final int TOO_MANY = 429;
  private static final int TRIES = 4;
  private static final Duration FIRST_PAUSE = Duration.ofMillis(50);
  private static final Duration STEP = Duration.ofMillis(2);
  private static final int MOST_STEPS = 2_500; // 5 s

  private final KubernetesClient client;
  private final SlimRecords slim;
  private final TokenBucket bucket;

  public BindingPoster(KubernetesClient client, SlimRecords slim, TokenBucket bucket) {
    this.client = client;
    this.slim = slim;
    this.bucket = bucket;
  }

  @Override
  public Posted post(Binding binding) {
    String path =
        "/api/v1/namespaces/"
            + binding.pod().namespace()
            + "/pods/"
            + binding.pod().name()
            + "/binding";
    Duration pause = FIRST_PAUSE;
    for (int attempt = 1; ; attempt++) {
      if (!paced()) {
        return new Posted.Refused(TOO_MANY, "too many requests of our own are waiting");
      }
      try {
        client.raw(path, "POST", body(binding));
        return new Posted.Done();
      } catch (KubernetesClientException e) {
        // refused before it was looked at: the one answer that a later try may change
        if (e.getCode() != TOO_MANY || attempt == TRIES) {
          return outcome(e);
        }
      }
      LockSupport.parkNanos(pause.toNanos());
      pause = pause.multipliedBy(2);
    }
  }

  private static Posted outcome(KubernetesClientException e) {
    boolean refused = e.getCode() >= 400 && e.getCode() < 500 && e.getCode() != 408;
    return refused ? new Posted.Refused(e.getCode(), said(e)) : new Posted.Unknown(said(e));
  }

  private static String said(KubernetesClientException e) {
    if (e.getStatus() != null && e.getStatus().getMessage() != null) {
      return e.getStatus().getMessage();
    }
    // without an answer the cause says more than the client's own words
    Throwable cause = e;
    while (cause.getCause() != null) {
      cause = cause.getCause();
    }
    return cause.getMessage() == null ? cause.toString() : cause.getMessage();
  }

  /** The Binding of control-plane.md 2.4. */
  static String body(Binding binding) {
    ObjectNode o = JSON.createObjectNode();
    o.put("apiVersion", "v1").put("kind", "Binding");
    ObjectNode meta = o.putObject("metadata");
    meta.put("name", binding.pod().name())
        .put("namespace", binding.pod().namespace())
        .put("uid", binding.pod().uid());
    if (!binding.resourceVersion().isEmpty()) {
      meta.put("resourceVersion", binding.resourceVersion());
    }
    if (!binding.annotations().isEmpty()) {
      ObjectNode annotations = meta.putObject("annotations");
      binding.annotations().forEach(annotations::put);
    }
    o.putObject("target").put("apiVersion", "v1").put("kind", "Node").put("name", binding.node());
    return o.toString();
  }

  @Override
  public Found read(String namespace, String name) {
    if (!paced()) {
      return new Found.Unreadable("too many requests of our own are waiting");
    }
    try {
      Pod pod = client.pods().inNamespace(namespace).withName(name).get();
      return pod == null ? new Found.Absent() : new Found.Present(slim.pod(pod));
    } catch (KubernetesClientException e) {
      return new Found.Unreadable(said(e));
    }
  }

  @Override
  public OnNode onNode(String node) {
    if (!paced()) {
      return new OnNode.Unreadable("too many requests of our own are waiting");
    }
    try {
      return new OnNode.Pods(
          client.pods().inAnyNamespace().withField("spec.nodeName", node).list().getItems().stream()
              .map(slim::pod)
              .toList());
    } catch (KubernetesClientException e) {
      return new OnNode.Unreadable(said(e));
    }
  }

  private boolean paced() {
    for (int step = 0; step < MOST_STEPS; step++) {
      if (bucket.tryTake()) {
        return true;
      }
      LockSupport.parkNanos(STEP.toNanos());
    }
    return false;
  }
}
