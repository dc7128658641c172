package io.vgpu.e2e.burst;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.vgpu.e2e.burst.Finding.Check;
import io.vgpu.e2e.cluster.AuditLog;
import io.vgpu.e2e.cluster.Await;
import io.vgpu.e2e.cluster.Cluster;
import io.vgpu.e2e.product.OurPart;
import io.vgpu.e2e.product.Product;
import java.io.PrintStream;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/**
 * Bare pods on a real cluster in which something goes wrong, with all witnesses of a burst: each
 * pod must end with exactly its claim, and what failed be replaced exactly once. Our parts must run
 * when it begins. One thread directs it; no other pod may be in its namespace.
 */
public final class Scene implements AutoCloseable {
  private static final Duration SCAN = Duration.ofMillis(200);
  private static final Duration SAMPLE = Duration.ofMillis(300);
  private static final Duration TELL = Duration.ofSeconds(10);
  private static final Duration PLAYED = Duration.ofMinutes(1);
  private static final int STORIES = 3;

  private final Cluster cluster;
  private final Product product;
  private final String namespace;
  private final PrintStream out;
  private final Instant beganAt = Clock.systemUTC().instant();
  private final long began = System.nanoTime();
  private final LongSupplier elapsedMs = () -> (System.nanoTime() - began) / 1_000_000;
  private final long audit;
  private final PodHistory history = new PodHistory(BurstNode.cards(), Set.of());
  private final Killer killer;
  private final ScheduledExecutorService looks = Executors.newScheduledThreadPool(2);
  private final PrintCollector prints;
  private final DeviceSampler sampler;
  private final Director director;
  private final List<Future<?>> looking;
  private final List<Finding> findings = new ArrayList<>();
  private final List<String> names = new ArrayList<>();
  private Witness witness;
  private Optional<Long> checkpointLostAtMs = Optional.empty();
  private List<AuditLog.Request> forgiven;

  /** The namespace is made if there is none. */
  public Scene(Cluster cluster, Product product, String namespace, PrintStream out) {
    this.cluster = cluster;
    this.product = product;
    this.namespace = namespace;
    this.out = out;
    BurstRun.makeNamespace(client(), namespace);
    audit = cluster.auditLog().position();
    forgiven = product.forbidden();
    killer = new Killer(cluster, product, elapsedMs);
    witness = new Witness(client(), namespace, history, elapsedMs);
    prints = new PrintCollector(cluster.paths().podLogs(), namespace, elapsedMs);
    sampler =
        new DeviceSampler(cluster.paths().podResourcesSocket(), namespace, history, elapsedMs);
    director = new Director(client(), namespace, history, killer);
    looking =
        List.of(
            BurstRun.repeat(looks, prints::scan, SCAN),
            BurstRun.repeat(looks, sampler::sample, SAMPLE));
  }

  /** Makes these many pods, as fast as the API takes them; returns at once. */
  public void play(String prefix, int pods, long seed) {
    BurstPlan plan = ChangePlan.of(prefix, pods, seed);
    names.addAll(plan.bareNames());
    director.play(plan);
  }

  /** How many pods a container of which runs or ran. */
  public int begun() {
    return count(p -> p.succeeded() || !p.last().running().isEmpty());
  }

  /** How many pods the kubelet has still to admit, as far as the API knows. */
  public int queued() {
    return count(p -> p.holds() && p.last().phase().equals("Pending"));
  }

  public int pods() {
    return history.all().size();
  }

  public int failed() {
    return count(p -> p.failedAtMs().isPresent());
  }

  public int replaced() {
    return count(p -> p.last().replaces().isPresent());
  }

  private int count(Predicate<Incarnation> which) {
    return Math.toIntExact(history.all().stream().filter(which).count());
  }

  /** The kubelet has lost its checkpoint just now. */
  public void checkpointLost() {
    checkpointLostAtMs = Optional.of(elapsedMs.getAsLong());
  }

  /**
   * The API server was away: watches again. What is gone meanwhile is noted as gone; no finding of
   * the watch before counts.
   */
  public void watchAgain() {
    witness.close();
    witness = new Witness(client(), namespace, history, elapsedMs);
    Set<String> there =
        client().pods().inNamespace(namespace).list().getItems().stream()
            .map((Pod p) -> p.getMetadata().getUid())
            .collect(Collectors.toSet());
    history.all().stream()
        .filter(p -> p.deletedAtMs().isEmpty() && !there.contains(p.uid()))
        .forEach(p -> history.accept(p.last(), true, elapsedMs.getAsLong()));
  }

  /** An API server that has just started forbids everything until it knows its roles. */
  public void forgiveWhatWasForbidden() {
    forgiven = product.forbidden();
  }

  /** Whether every pod came to its end in time. */
  public boolean awaitSettled(Duration limit) {
    findings.addAll(director.awaitPlayed(PLAYED));
    AtomicLong told = new AtomicLong(elapsedMs.getAsLong());
    return Await.holdsWithin(
        limit,
        () -> {
          List<String> waiting = waiting();
          if (!waiting.isEmpty() && elapsedMs.getAsLong() - told.get() > TELL.toMillis()) {
            told.set(elapsedMs.getAsLong());
            say("waiting for " + waiting.size() + ": " + waiting.stream().limit(6).toList());
          }
          return waiting.isEmpty();
        });
  }

  /** Whether every pod came to its end by now. */
  public boolean settled() {
    return waiting().isEmpty();
  }

  public String namespace() {
    return namespace;
  }

  private List<String> waiting() {
    return names.stream()
        .filter(
            name -> {
              List<Incarnation> line = history.named(name);
              return line.isEmpty() || !line.getLast().succeeded() && !line.getLast().brokenOff();
            })
        .toList();
  }

  /** Everything that must not be, as sentences; once, at the end. */
  public List<String> judge() {
    findings.addAll(killer.findings());
    looking.stream()
        .filter(Future::isDone)
        .forEach(l -> findings.add(run("a witness has died: " + Director.why(l))));
    prints.scan();
    findings.addAll(witness.faults());
    Optional<Gap> gap =
        checkpointLostAtMs.map(at -> Gap.since(at, product.log(OurPart.AGENT), beganAt));
    Judge judge = new Judge(history, Set.of(), gap);
    List<Print> printed = prints.prints();
    findings.addAll(history.findings());
    findings.addAll(sampler.findings(gap));
    findings.addAll(judge.claims(printed));
    findings.addAll(judge.completeness(printed));
    findings.addAll(judge.bindings(BurstRun.bound(cluster, namespace, audit)));
    findings.addAll(
        new Succession(history, Set.of(), director.made(), director.forceDeleted()).check(names));
    product.forbidden().stream()
        .filter(hole -> !forgiven.contains(hole))
        .forEach(hole -> findings.add(Finding.of(Check.RIGHTS, "the API server forbade " + hole)));
    if (sampler.idsCompared() == 0) {
      findings.add(run("the kubelet never listed a device: nothing compared"));
    }
    return findings.stream().map(Finding::toString).toList();
  }

  private static Finding run(String text) {
    return Finding.of(Check.RUN, text);
  }

  /** What is known of the first pods that a finding is about. */
  public List<String> stories() {
    Map<OurPart, String> logs = new EnumMap<>(OurPart.class);
    for (OurPart part : OurPart.values()) {
      logs.put(part, product.log(part));
    }
    Story story = new Story(history, prints.prints(), logs);
    return new HashSet<>(findings.stream().flatMap(f -> f.uid().stream()).toList())
        .stream().limit(STORIES).flatMap(uid -> story.of(uid).stream()).toList();
  }

  public double seconds() {
    return elapsedMs.getAsLong() / 1e3;
  }

  /** A line for whoever watches. */
  public void say(String text) {
    out.printf(Locale.ROOT, "%7.1f s  %s%n", seconds(), text);
  }

  private KubernetesClient client() {
    return cluster.client();
  }

  @Override
  public void close() {
    looks.shutdownNow();
    director.close();
    sampler.close();
    prints.close();
    witness.close();
  }
}
