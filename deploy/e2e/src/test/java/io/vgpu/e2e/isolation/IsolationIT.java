package io.vgpu.e2e.isolation;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.vgpu.e2e.cluster.Await;
import io.vgpu.e2e.cluster.Cluster;
import io.vgpu.e2e.junit.RealCluster;
import io.vgpu.e2e.junit.SharedCluster;
import io.vgpu.e2e.junit.TestNamespace;
import io.vgpu.e2e.product.Checkout;
import io.vgpu.e2e.product.LoadFile;
import io.vgpu.e2e.product.OurPart;
import io.vgpu.e2e.product.Product;
import io.vgpu.e2e.product.ProductConfig;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * A tenant cannot get rid of its limits, as root or as another user; what no interposer can stop is
 * noticed; and the same attacks succeed where nothing defends (docs/isolation.md). Weaknesses
 * 13-29, 13-30, 13-31, 13-32, 13-38.
 */
@RealCluster
class IsolationIT {
  private static final Duration LIMIT = Duration.ofSeconds(90);
  private static final String CARD = "GPU-12345678-1234-1234-1234-12345678000";
  private static final long TMPFS_BYTES = 256L << 20;
  private static final List<Integer> USERS = List.of(0, 1000);

  /** A program without our library: nothing in a container can stop one. */
  private static final String UNSTOPPABLE = "own-loader";

  /** Words that no layout of ours ever heeded, so that no control can. */
  private static final Set<String> NEVER_HEEDED =
      Set.of("DISABLE_VGPU_CONTROL", "CUDA_MEM_OVERSOLD", "end");

  /** What the kernel refuses to any but root. */
  private static final Set<String> ROOTS_ALONE =
      Set.of("mount-limits", "mount-usage", "mount-preload");

  private final Cluster cluster;
  private final SharedCluster shared;
  private final String namespace;
  private final Checkout checkout = Checkout.find();
  private final Product product;
  private final HostFiles files;

  IsolationIT(Cluster cluster, SharedCluster shared, TestNamespace namespace) {
    this.cluster = cluster;
    this.shared = shared;
    this.namespace = namespace.name();
    this.product = new Product(cluster, checkout);
    this.files = new HostFiles(cluster);
  }

  @AfterEach
  void end() {
    product.stop();
    shared.stop();
  }

  @Test
  void nobodyGetsRidOfHisLimitsUnnoticed() throws IOException, InterruptedException {
    product.start(ProductConfig.DEFAULT);
    Tenants tenants = new Tenants(cluster, namespace, files.tools());
    List<Pod> neighbours = new ArrayList<>();
    for (int uid : USERS) {
      neighbours.add(create(tenants.neighbour("neighbour-" + uid, CARD + card(uid))));
    }
    neighbours.forEach(p -> awaitSample(p, 0));
    assertThat(unaccounted()).as("before any attack").isEmpty();

    List<Pod> attackers = new ArrayList<>();
    for (int uid : USERS) {
      attackers.add(create(tenants.attacker("attacker-" + uid, CARD + card(uid), uid)));
    }
    attackers.forEach(this::repelled);
    nobodyWaits(neighbours); // the attackers hold every lock, 13-31
    attackers.forEach(this::setBack);
    noticed();

    for (int uid : USERS) {
      Pod victim = neighbours.get(USERS.indexOf(uid));
      Path open = files.open(checkout, victim.getMetadata().getUid(), uid);
      succeeded(create(tenants.control("control-" + uid, CARD + card(uid), uid, open)), uid);
    }
    assertThat(product.forbidden()).isEmpty();
  }

  private static int card(int uid) {
    return USERS.indexOf(uid);
  }

  private Pod create(Pod pod) {
    return cluster.client().resource(pod).create();
  }

  private String log(Pod pod) {
    try {
      return cluster
          .client()
          .pods()
          .inNamespace(namespace)
          .withName(pod.getMetadata().getName())
          .getLog();
    } catch (KubernetesClientException e) {
      return ""; // not started yet
    }
  }

  private Outcomes outcomes(Pod pod) {
    String name = pod.getMetadata().getName();
    if (!Await.holdsWithin(LIMIT, () -> log(pod).contains("ATTACK end"))) {
      throw new AssertionError(
          name
              + " did not come to an end: "
              + cluster.client().pods().inNamespace(namespace).withName(name).get().getStatus()
              + log(pod));
    }
    Outcomes outcomes = Outcomes.parse(log(pod));
    assertThat(outcomes.limitMiB())
        .as("what %s is told before its attacks: %s", name, log(pod))
        .isEqualTo(Integer.toString(Tenants.MEMORY_MIB));
    return outcomes;
  }

  private void repelled(Pod attacker) {
    assertThat(outcomes(attacker).succeeded())
        .as("attacks of %s: %s", attacker.getMetadata().getName(), log(attacker))
        .containsExactly(UNSTOPPABLE);
  }

  private void succeeded(Pod control, int uid) {
    Outcomes outcomes = outcomes(control);
    TreeSet<String> expected = outcomes.tried();
    expected.removeAll(NEVER_HEEDED);
    if (uid != 0) {
      expected.removeAll(ROOTS_ALONE);
    }
    assertThat(outcomes.succeeded())
        .as("attacks of %s: %s", control.getMetadata().getName(), log(control))
        .isEqualTo(expected);
  }

  /** The agent goes on looking at the others and telling them what it saw. */
  private void nobodyWaits(List<Pod> neighbours) {
    neighbours.forEach(p -> awaitSample(p, sampleNs(p)));
  }

  private void awaitSample(Pod pod, long after) {
    Await.until(
        "the agent to sample " + pod.getMetadata().getName(), LIMIT, () -> sampleNs(pod) > after);
  }

  private long sampleNs(Pod pod) {
    String uid = pod.getMetadata().getUid();
    Path load =
        cluster
            .paths()
            .runDir()
            .resolve("manager")
            .resolve(uid + "_" + Tenants.CONTAINER)
            .resolve("load");
    return Files.exists(load)
        ? LoadFile.measured(cluster, checkout, uid, Tenants.CONTAINER).sampleNs()
        : 0;
  }

  /** 13-32: what was grown and cut has its size again, and could not take more than the tmpfs. */
  private void setBack(Pod attacker) {
    String name = attacker.getMetadata().getName();
    String neighbour =
        cluster
            .client()
            .pods()
            .inNamespace(namespace)
            .withName("neighbour" + name.substring(name.indexOf('-')))
            .get()
            .getMetadata()
            .getUid();
    for (String file : List.of("usage", "usage.lock")) {
      Path path = files.usage(attacker.getMetadata().getUid(), file);
      long size = size(files.usage(neighbour, file));
      assertThat(size).isPositive();
      Await.until(path + " to have " + size + " bytes again", LIMIT, () -> size(path) == size);
    }
    try {
      assertThat(Files.getFileStore(files.usageRoot()).getTotalSpace())
          .isLessThanOrEqualTo(TMPFS_BYTES);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static long size(Path file) {
    try {
      return Files.size(file);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Both cards' figures are far above what their containers account for; no other card's is. */
  private void noticed() {
    Set<String> both = Set.of(CARD + 0, CARD + 1);
    Await.until("load of nobody's on " + both, LIMIT, () -> unaccounted().equals(both));
  }

  private Set<String> unaccounted() {
    Set<String> cards = new TreeSet<>();
    for (String line : product.metrics(OurPart.AGENT).lines().toList()) {
      if (line.matches("vgpu_card_unaccounted_load\\{.* 1(\\.0)?")) {
        cards.add(line.replaceFirst(".*device_uuid=\"([^\"]*)\".*", "$1"));
      }
    }
    return cards;
  }
}
