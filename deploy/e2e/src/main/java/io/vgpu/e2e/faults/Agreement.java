package io.vgpu.e2e.faults;

import io.fabric8.kubernetes.api.model.Pod;
import io.vgpu.agent.kubelet.ListedPod;
import io.vgpu.claim.ClaimCodec;
import io.vgpu.claim.InventoryCodec;
import io.vgpu.claim.Names;
import io.vgpu.e2e.cluster.Cluster;
import io.vgpu.e2e.cluster.ClusterException;
import io.vgpu.e2e.faults.Notes.Noted;
import io.vgpu.e2e.product.PodResourcesView;
import io.vgpu.e2e.product.Product;
import io.vgpu.model.ContainerClaim;
import io.vgpu.model.GpuDevice;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * Whether all who know of allocations say the same: claims in the API, the agent's notes, region
 * files, the kubelet's list, and the node object.
 */
final class Agreement {
  private static final Names NAMES = Names.DEFAULT;
  private static final int SLOTS = 10;
  private static final Pattern OWNER =
      Pattern.compile("([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})_(.+)");

  private final Cluster cluster;
  private final Product product;

  Agreement(Cluster cluster, Product product) {
    this.cluster = cluster;
    this.product = product;
  }

  /**
   * Every disagreement, as a sentence.
   *
   * @param sick how many cards are out of order
   * @param kubeletForgot the kubelet lost its checkpoint: it need not know who holds what
   */
  List<String> differences(int sick, boolean kubeletForgot) {
    List<String> differences = new ArrayList<>();
    List<Noted> notes = Notes.read(product.managerDir().resolve("checkpoints/allocations.json"));
    List<Pod> pods =
        cluster.client().pods().inAnyNamespace().list().getItems().stream()
            .filter(p -> p.getSpec().getNodeName() != null)
            .filter(p -> annotation(p, NAMES.preAllocated()).isPresent())
            .toList();
    claimed(pods, notes, kubeletForgot, differences);
    noteless(pods, notes, differences);
    twice(notes, differences);
    files(notes, differences);
    node(sick, differences);
    return differences;
  }

  private static Optional<String> annotation(Pod pod, String key) {
    return Optional.ofNullable(pod.getMetadata().getAnnotations()).map(a -> a.get(key));
  }

  /** Whoever runs has its claim's cards, by the notes and by the kubelet. */
  private void claimed(
      List<Pod> pods, List<Noted> notes, boolean kubeletForgot, List<String> differences) {
    List<ListedPod> listed = new PodResourcesView(cluster).list();
    for (Pod pod : pods) {
      if (!"Running".equals(pod.getStatus().getPhase())) {
        continue;
      }
      String name = pod.getMetadata().getName();
      Map<String, Set<String>> attached =
          notes.stream()
              .filter(n -> n.uid().equals(pod.getMetadata().getUid()) && !n.ended())
              .findFirst()
              .map(Noted::attached)
              .orElse(Map.of());
      for (ContainerClaim claim :
          ClaimCodec.decode(annotation(pod, NAMES.preAllocated()).orElseThrow()).containers()) {
        Set<String> ids = attached.getOrDefault(claim.container(), Set.of());
        List<String> cards = ids.stream().map(Agreement::card).sorted().toList();
        List<String> wanted = claim.uuids().stream().map(Objects::toString).sorted().toList();
        if (!cards.equals(wanted)) {
          differences.add(
              "notes: %s/%s holds %s, its claim is %s"
                  .formatted(name, claim.container(), ids, wanted));
        }
        Set<String> ofKubelet =
            listed.stream()
                .filter(l -> l.namespace().equals(pod.getMetadata().getNamespace()))
                .filter(l -> l.name().equals(name))
                .findFirst()
                .map(l -> l.devices().getOrDefault(claim.container(), Set.of()))
                .orElse(Set.of());
        boolean init =
            pod.getSpec().getInitContainers().stream()
                .anyMatch(
                    c ->
                        c.getName().equals(claim.container())
                            && !"Always".equals(c.getRestartPolicy()));
        if (!init && !kubeletForgot && !ofKubelet.equals(ids)) {
          differences.add(
              "kubelet: %s/%s holds %s, by the notes %s"
                  .formatted(name, claim.container(), ofKubelet, ids));
        }
      }
    }
  }

  /** Nobody is in the notes who is nowhere else. */
  private static void noteless(List<Pod> pods, List<Noted> notes, List<String> differences) {
    Set<String> there = new HashSet<>();
    pods.forEach(p -> there.add(p.getMetadata().getUid()));
    notes.stream()
        .filter(n -> !there.contains(n.uid()))
        .forEach(n -> differences.add("notes: " + n.name() + " " + n.uid() + " is no more"));
  }

  private static void twice(List<Noted> notes, List<String> differences) {
    Map<String, String> holders = new HashMap<>();
    for (Noted n : notes) {
      Set<String> ids = new HashSet<>();
      n.attached().values().forEach(ids::addAll);
      for (String id : n.ended() ? Set.<String>of() : ids) {
        String other = holders.putIfAbsent(id, n.name());
        if (other != null) {
          differences.add("notes: " + id + " is held by " + other + " and by " + n.name());
        }
      }
    }
  }

  /** Whoever may run has all its files, and nobody else has any. */
  private void files(List<Noted> notes, List<String> differences) {
    for (Noted n : notes) {
      for (String container : n.ended() ? Set.<String>of() : n.attached().keySet()) {
        String folder = n.uid() + "_" + container;
        for (Path file :
            List.of(
                product.managerDir().resolve(folder).resolve("limits"),
                product.managerDir().resolve(folder).resolve("load"),
                product.usageDir().resolve(folder).resolve("usage"),
                product.usageDir().resolve(folder).resolve("usage.lock"))) {
          if (!Files.isRegularFile(file)) {
            differences.add("files: " + n.name() + "/" + container + " lacks " + file);
          }
        }
      }
    }
    Set<String> known = new HashSet<>();
    notes.forEach(n -> known.add(n.uid()));
    for (Path root : List.of(product.managerDir(), product.usageDir())) {
      try (DirectoryStream<Path> entries = Files.newDirectoryStream(root)) {
        for (Path entry : entries) {
          var owner = OWNER.matcher(String.valueOf(entry.getFileName()));
          if (owner.matches() && !known.contains(owner.group(1))) {
            differences.add("files: nobody owns " + entry);
          }
        }
      } catch (IOException e) {
        throw new ClusterException("cannot list " + root, e);
      }
    }
  }

  private void node(int sick, List<String> differences) {
    String text =
        cluster
            .node()
            .getMetadata()
            .getAnnotations()
            .getOrDefault(NAMES.nodeDeviceRegister(), "[]");
    List<GpuDevice> cards = InventoryCodec.decodeRegister(text);
    long healthy = cards.stream().filter(GpuDevice::healthy).count();
    if (healthy != cards.size() - sick || cards.isEmpty()) {
      differences.add(
          "node: %d of %d cards are healthy by its annotation, %d are out of order"
              .formatted(healthy, cards.size(), sick));
    }
    if (product.allocatable() != SLOTS * healthy) {
      differences.add(
          "node: %d allocatable, %d cards are healthy".formatted(product.allocatable(), healthy));
    }
  }

  private static String card(String id) {
    return id.substring(0, Math.max(0, id.indexOf("::")));
  }
}
