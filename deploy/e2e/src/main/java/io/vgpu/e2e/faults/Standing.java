package io.vgpu.e2e.faults;

import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.vgpu.claim.ClaimCodec;
import io.vgpu.claim.Names;
import io.vgpu.e2e.cluster.Await;
import io.vgpu.e2e.cluster.Cluster;
import io.vgpu.e2e.product.ContainerView;
import io.vgpu.e2e.product.Expectation;
import io.vgpu.e2e.product.Product;
import io.vgpu.e2e.product.VgpuPods;
import io.vgpu.model.ContainerClaim;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Pods that run while one fault after the other strikes: none of them may notice. Of each shape
 * one: alone, behind an init container, beside a sidecar, on two cards.
 */
final class Standing {
  private static final String NAMESPACE = "standing";
  private static final Duration LIMIT = Duration.ofSeconds(90);
  private static final String RUNS = "exec sleep 36000";

  private final Cluster cluster;
  private Map<String, String> known = Map.of();

  Standing(Cluster cluster) {
    this.cluster = cluster;
  }

  /** Makes them, anew if there are some, and returns when all run. */
  void begin() {
    cluster
        .client()
        .resource(
            new NamespaceBuilder().withNewMetadata().withName(NAMESPACE).endMetadata().build())
        .serverSideApply();
    Await.until(
        "the default account of " + NAMESPACE,
        LIMIT,
        () ->
            cluster.client().serviceAccounts().inNamespace(NAMESPACE).withName("default").get()
                != null);
    deleteAll();
    Container sidecar = app("side", 1, RUNS);
    sidecar.setRestartPolicy("Always");
    make("alone", List.of(), List.of(app("main", 1, RUNS)));
    make("behind", List.of(app("prepare", 1, "exit 0")), List.of(app("main", 1, RUNS)));
    make("beside", List.of(sidecar), List.of(app("main", 1, RUNS)));
    make("wide", List.of(), List.of(app("main", 2, RUNS)));
    awaitAsClaimed();
  }

  /** Deletes them, and returns when the API has none any more. */
  void deleteAll() {
    cluster.client().pods().inNamespace(NAMESPACE).withGracePeriod(0).delete();
    Await.until("the standing pods to go", LIMIT, () -> pods().isEmpty());
  }

  /** Region files that these pods need and that are not there. */
  List<Path> missingFiles(Product product) {
    List<Path> missing = new ArrayList<>();
    for (Pod pod : pods()) {
      String text =
          pod.getMetadata().getAnnotations().getOrDefault(Names.DEFAULT.preAllocated(), "");
      for (ContainerClaim claim : ClaimCodec.decode(text).containers()) {
        String folder = pod.getMetadata().getUid() + "_" + claim.container();
        Stream.of(
                product.managerDir().resolve(folder).resolve("limits"),
                product.usageDir().resolve(folder).resolve("usage"))
            .filter(f -> !Files.exists(f))
            .forEach(missing::add);
      }
    }
    return missing;
  }

  /** Returns when all run and see their claims; what they are from now on must not change. */
  void awaitAsClaimed() {
    Await.until(
        "the standing pods to run as claimed: " + differences(),
        LIMIT,
        () -> differences().isEmpty());
    known = ids();
  }

  /** The same, of containers that are none of those that ran before. */
  void awaitStartedAnew() {
    Map<String, String> before = known;
    Await.until(
        "the standing containers to be started anew",
        LIMIT,
        () -> {
          Map<String, String> now = ids();
          return now.keySet().equals(before.keySet())
              && now.values().stream().noneMatch(before::containsValue);
        });
    awaitAsClaimed();
  }

  private static Container app(String name, int number, String then) {
    return VgpuPods.container(name, VgpuPods.limits(number, 5, 512), then);
  }

  private void make(String name, List<Container> inits, List<Container> apps) {
    Pod pod =
        new PodBuilder(VgpuPods.pod(NAMESPACE, name, Map.of(), apps))
            .editSpec()
            .withInitContainers(inits)
            .withRestartPolicy("Always")
            .endSpec()
            .build();
    cluster.client().resource(pod).create();
  }

  private List<Pod> pods() {
    return cluster.client().pods().inNamespace(NAMESPACE).list().getItems();
  }

  /** The runtime's id of each running container, by pod's UID and container. */
  private Map<String, String> ids() {
    Map<String, String> ids = new TreeMap<>();
    for (Pod pod : pods()) {
      for (ContainerStatus c : running(pod)) {
        ids.put(
            pod.getMetadata().getName() + "/" + pod.getMetadata().getUid() + "/" + c.getName(),
            c.getContainerID());
      }
    }
    return ids;
  }

  private static List<ContainerStatus> running(Pod pod) {
    List<ContainerStatus> all = new ArrayList<>(pod.getStatus().getInitContainerStatuses());
    all.addAll(pod.getStatus().getContainerStatuses());
    return all.stream().filter(c -> c.getState().getRunning() != null).toList();
  }

  /** Whether this is one of them. */
  boolean owns(String uid) {
    return known.keySet().stream().anyMatch(k -> k.contains("/" + uid + "/"));
  }

  /** Containers that are not those that ran when they were last looked at. */
  List<String> changed() {
    Map<String, String> now = ids();
    return now.equals(known)
        ? List.of()
        : List.of("standing containers changed from " + known + " to " + now);
  }

  /** Containers that do not run, or do not see exactly their claim. */
  List<String> differences() {
    List<String> differences = new ArrayList<>();
    List<Pod> pods = pods();
    if (pods.size() != 4) {
      differences.add(pods.size() + " standing pods, not 4");
    }
    for (Pod pod : pods) {
      String name = pod.getMetadata().getName();
      List<ContainerStatus> running = running(pod);
      Set<String> wanted = name.equals("beside") ? Set.of("side", "main") : Set.of("main");
      Set<String> names =
          running.stream().map(ContainerStatus::getName).collect(Collectors.toSet());
      if (!names.equals(wanted)) {
        differences.add(name + ": of its containers there run " + names);
        continue;
      }
      for (ContainerStatus c : running) {
        Optional<ContainerView> view = ContainerView.parse(log(name, c.getName()));
        Optional<ContainerClaim> claim =
            Optional.ofNullable(
                    pod.getMetadata().getAnnotations().get(Names.DEFAULT.preAllocated()))
                .flatMap(text -> ClaimCodec.decode(text).of(c.getName()));
        if (view.isEmpty() || claim.isEmpty()) {
          differences.add(name + "/" + c.getName() + " has printed nothing whole, or no claim");
        } else {
          Expectation.differences(claim.get(), view.get())
              .forEach(d -> differences.add(name + "/" + c.getName() + ": " + d));
        }
      }
    }
    return differences;
  }

  /** What a container printed; nothing while it is being started anew. */
  private String log(String pod, String container) {
    try {
      return cluster
          .client()
          .pods()
          .inNamespace(NAMESPACE)
          .withName(pod)
          .inContainer(container)
          .getLog();
    } catch (KubernetesClientException e) {
      return "";
    }
  }
}
