package io.vgpu.agent.kube;

import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.VerticleBase;
import io.vgpu.kube.MergePatch;
import java.math.BigDecimal;
import java.net.HttpURLConnection;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Takes resources that are no longer served out of the node's status (node-agent.md 2.1): the
 * kubelet leaves them there with 0 for ever, and then refuses every pod that names them.
 *
 * <p>The kubelet itself writes them back for five minutes after their plugin ended, so a look that
 * finds one again is followed by a longer pause, and what the kubelet can still give out is left to
 * it. The work ends after six looks in a row without a find, after {@link #MAX_LOOKS}, or when the
 * API server forbids it (weakness 13-26). Runs on a virtual thread, because the client blocks.
 */
public final class UnservedResources extends VerticleBase {
  private static final Logger log = LoggerFactory.getLogger(UnservedResources.class);
  static final int CLEAN_LOOKS = 6;
  static final int MAX_LOOKS = 20;
  private static final int MAX_DOUBLINGS = 4;

  private final KubernetesClient client;
  private final String node;
  private final List<String> resources;
  private final Duration firstPause;
  private final Promise<Integer> done = Promise.promise();
  private int looks;
  private int clean;
  private int found;

  /** {@code resources}: full names; {@code firstPause}: 5 s in production. */
  public UnservedResources(
      KubernetesClient client, String node, List<String> resources, Duration firstPause) {
    this.client = client;
    this.node = node;
    this.resources = List.copyOf(resources);
    this.firstPause = firstPause;
  }

  @Override
  public Future<?> start() {
    if (!resources.isEmpty()) {
      context.runOnContext(v -> look());
    }
    return Future.succeededFuture();
  }

  /** Completes with the number of looks when there will be no other. */
  public Future<Integer> done() {
    return done.future();
  }

  private void look() {
    looks++;
    try {
      Node now = client.nodes().withName(node).get();
      List<String> stale = stale(now);
      if (stale.isEmpty()) {
        clean++;
      } else {
        clean = 0;
        found++;
        MergePatch.send(
            client,
            "/api/v1/nodes/" + node + "/status",
            patch(now.getMetadata().getResourceVersion(), stale));
        log.info("resources taken out of the node's status [resources: {}]", stale);
      }
    } catch (KubernetesClientException e) {
      if (e.getCode() == HttpURLConnection.HTTP_FORBIDDEN) {
        log.warn(
            "resources that are not served stay in the node's status: pods that name them are"
                + " refused by the kubelet [resources: {}, cause: {}]",
            resources,
            e.getMessage());
        done.complete(looks);
        return;
      }
      log.info("node's status not cleaned, trying again [cause: {}]", e.getMessage());
    }
    if (clean < CLEAN_LOOKS && looks < MAX_LOOKS) {
      long factor = 1L << Math.min(found, MAX_DOUBLINGS);
      vertx.setTimer(firstPause.multipliedBy(factor).toMillis(), t -> look());
      return;
    }
    if (clean < CLEAN_LOOKS) {
      log.warn("the node's status is left as it is [resources: {}, looks: {}]", resources, looks);
    }
    done.complete(looks);
  }

  private List<String> stale(@Nullable Node now) {
    if (now == null || now.getStatus() == null) {
      return List.of();
    }
    Map<String, Quantity> capacity = orNone(now.getStatus().getCapacity());
    Map<String, Quantity> allocatable = orNone(now.getStatus().getAllocatable());
    return resources.stream()
        .filter(r -> capacity.containsKey(r) || allocatable.containsKey(r))
        .filter(r -> !given(allocatable.get(r)))
        .toList();
  }

  private static Map<String, Quantity> orNone(@Nullable Map<String, Quantity> map) {
    return map == null ? Map.of() : map;
  }

  /** Somebody serves it: not ours to take away. */
  private static boolean given(@Nullable Quantity quantity) {
    return quantity != null && quantity.getNumericalAmount().compareTo(BigDecimal.ZERO) > 0;
  }

  /** Of the very node that was looked at: the kubelet may just have begun to give it out again. */
  private static String patch(String resourceVersion, List<String> stale) {
    String keys =
        stale.stream().map(r -> "\"" + r + "\":null").collect(Collectors.joining(",", "{", "}"));
    return "{\"metadata\":{\"resourceVersion\":\"%s\"},\"status\":{\"capacity\":%s,\"allocatable\":%s}}"
        .formatted(resourceVersion, keys, keys);
  }
}
