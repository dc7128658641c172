package io.vgpu.e2e.state;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.Watch;
import io.fabric8.kubernetes.client.Watcher;
import io.fabric8.kubernetes.client.WatcherException;
import io.vgpu.claim.ClaimCodec;
import io.vgpu.claim.ClaimSeal;
import io.vgpu.claim.Names;
import io.vgpu.e2e.burst.CardLedger;
import io.vgpu.kube.PodDemands;
import io.vgpu.model.ContainerClaim;
import io.vgpu.model.GpuDevice;
import io.vgpu.model.PodClaim;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * Follows the pods of a namespace through a watch of its own and reckons at each event, from those
 * objects alone, whether a card is promised beyond what it has, whether a pod was bound twice, and
 * whether each claim is sealed and of cards of the pod's node.
 */
final class Promises implements Watcher<Pod>, AutoCloseable {
  private static final Names NAMES = Names.DEFAULT;

  private final CardLedger ledger;
  private final Map<String, String> nodeOfCard;
  private final ClaimSeal seal;
  private final Map<String, Pod> pods = new LinkedHashMap<>();
  private final Map<String, String> boundAs = new HashMap<>();
  private final List<String> broken = new ArrayList<>();
  private final Watch watch;

  Promises(KubernetesClient client, String namespace, Collection<GpuDevice> cards, String keyFile) {
    this.ledger = new CardLedger(cards);
    this.nodeOfCard =
        cards.stream()
            .collect(
                Collectors.toMap(
                    c -> c.uuid().value(),
                    c -> c.uuid().value().replaceFirst("GPU-(.*)-\\d+", "$1")));
    this.seal = ClaimSeal.parse(keyFile);
    this.watch = client.pods().inNamespace(namespace).watch(this);
  }

  @Override
  public synchronized void eventReceived(Action action, Pod pod) {
    String uid = pod.getMetadata().getUid();
    if (action == Action.DELETED) {
      pods.remove(uid);
      return;
    }
    pods.put(uid, pod);
    if (pod.getSpec().getNodeName() != null) {
      bound(uid, pod);
    }
  }

  private void bound(String uid, Pod pod) {
    String name = pod.getMetadata().getName();
    Map<String, String> texts =
        Objects.requireNonNullElse(pod.getMetadata().getAnnotations(), Map.of());
    String node = pod.getSpec().getNodeName();
    String claim = texts.getOrDefault(NAMES.preAllocated(), "");
    String before = boundAs.putIfAbsent(uid, node + " " + claim);
    if (before != null && !before.equals(node + " " + claim)) {
      broken.add(name + " was bound twice: " + before + ", then " + node + " " + claim);
    }
    PodClaim cards = ClaimCodec.decode(claim);
    for (ContainerClaim c : cards.containers()) {
      if (!seal.verify(uid, c, texts.getOrDefault(NAMES.claimHmac(), ""))) {
        broken.add(name + ": the seal does not fit " + claim);
      }
      c.devices().stream()
          .filter(d -> !node.equals(nodeOfCard.get(d.uuid().value())))
          .forEach(d -> broken.add(name + " on " + node + " was given " + d.uuid()));
    }
    overCommit().ifPresent(o -> broken.add("with " + name + " bound: " + o));
  }

  private Optional<String> overCommit() {
    return ledger.overCommit(
        pods.values().stream()
            .filter(p -> p.getSpec().getNodeName() != null)
            .map(
                p ->
                    new CardLedger.Holder(
                        PodDemands.of(p, NAMES),
                        ClaimCodec.decode(
                            Objects.requireNonNullElse(
                                    p.getMetadata().getAnnotations(), Map.<String, String>of())
                                .getOrDefault(NAMES.preAllocated(), ""))))
            .toList());
  }

  @Override
  public synchronized void onClose(WatcherException cause) {
    broken.add("the test's own watch ended: " + cause.getMessage());
  }

  /** What was not kept, in the order it was seen. */
  synchronized List<String> broken() {
    return List.copyOf(broken);
  }

  /** How many bound pods the watch has shown. */
  synchronized long bound() {
    return pods.values().stream().filter(p -> p.getSpec().getNodeName() != null).count();
  }

  @Override
  public void close() {
    watch.close();
  }
}
