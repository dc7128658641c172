package io.vgpu.e2e.burst;

import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.api.model.batch.v1.Job;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.vgpu.claim.InventoryCodec;
import io.vgpu.claim.Names;
import io.vgpu.e2e.burst.Finding.Check;
import io.vgpu.e2e.cluster.AuditLog;
import io.vgpu.e2e.cluster.Await;
import io.vgpu.e2e.cluster.Cluster;
import io.vgpu.e2e.product.OurPart;
import io.vgpu.e2e.product.Product;
import io.vgpu.e2e.product.ProductConfig;
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
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

/**
 * One burst on a real cluster: the plan is played, witnessed and judged. The cluster must be clean
 * and no part of ours may run; our parts are left running. One run at a time.
 */
public final class BurstRun {
  private static final Duration SETTLES = Duration.ofMinutes(5);
  private static final Duration PLAYED = Duration.ofMinutes(2);
  private static final Duration SCAN = Duration.ofMillis(200);
  private static final Duration SAMPLE = Duration.ofMillis(300);
  private static final Duration TELL = Duration.ofSeconds(10);

  private final Cluster cluster;
  private final Product product;
  private final String namespace;
  private final PrintStream out;
  private final Instant beganAt = Clock.systemUTC().instant();
  private final long began = System.nanoTime();
  private final LongSupplier elapsedMs = () -> (System.nanoTime() - began) / 1_000_000;

  /** The namespace is made if there is none; no pod may be in it. */
  public BurstRun(Cluster cluster, Product product, String namespace, PrintStream out) {
    this.cluster = cluster;
    this.product = product;
    this.namespace = namespace;
    this.out = out;
  }

  /** Plays the plan of the seed and returns the verdict. */
  public BurstReport run(long seed) {
    BurstPlan plan = Planner.plan(seed, BurstNode.uuids());
    out.printf(
        Locale.ROOT,
        "burst seed %d: %d pods (%d bare) in two waves, %d kills, %d remakes, %d admitted without a plugin%n",
        seed,
        plan.pods().size(),
        plan.bareNames().size() - plan.withoutPlugin().size(),
        plan.only(Step.Kill.class).count() + 1,
        plan.only(Step.Remake.class).count(),
        plan.withoutPlugin().size());
    makeNamespace();
    long audit = cluster.auditLog().position();
    PodHistory history =
        new PodHistory(
            BurstNode.cards(),
            Set.copyOf(plan.withoutPlugin().stream().map(PodPlan::name).toList()));
    Killer killer = new Killer(cluster, product, elapsedMs);
    ScheduledExecutorService looks = Executors.newScheduledThreadPool(2);
    try (Witness witness = new Witness(client(), namespace, history, elapsedMs);
        PrintCollector prints =
            new PrintCollector(cluster.paths().podLogs(), namespace, elapsedMs);
        DeviceSampler sampler =
            new DeviceSampler(cluster.paths().podResourcesSocket(), namespace, history, elapsedMs);
        Director director = new Director(client(), namespace, history, killer)) {
      List<Future<?>> looking = new ArrayList<>();
      looking.add(repeat(looks, prints::scan, SCAN));
      List<String> early = new WithoutPlugin(cluster, namespace).run(plan.withoutPlugin());
      say(early.size() + " pods run without devices; our parts start");
      product.start(ProductConfig.DEFAULT);
      looking.add(repeat(looks, sampler::sample, SAMPLE));
      List<Finding> findings = new ArrayList<>(inventory());
      say("the waves begin");
      director.play(plan);
      findings.addAll(director.awaitPlayed(Duration.ofMillis(plan.lengthMs()).plus(PLAYED)));
      killer.revive();
      say("everything was played, all parts run; waiting for the last pod");
      awaitSettled(plan, history);
      say("settled");
      long settledMs = elapsedMs.getAsLong();
      findings.addAll(killer.findings());
      findings.addAll(director.faults());
      for (Future<?> look : looking) {
        if (look.isDone()) {
          findings.add(Finding.of(Check.RUN, "a witness has died: " + Director.why(look)));
        }
      }
      prints.scan();
      findings.addAll(witness.faults());
      return report(plan, history, killer, prints, sampler, director, early, findings, audit)
          .settledIn(settledMs);
    } finally {
      looks.shutdownNow();
    }
  }

  private BurstReport report(
      BurstPlan plan,
      PodHistory history,
      Killer killer,
      PrintCollector prints,
      DeviceSampler sampler,
      Director director,
      List<String> early,
      List<Finding> findings,
      long audit) {
    Optional<Gap> gap =
        killer.checkpointLostAtMs().map(at -> Gap.since(at, product.log(OurPart.AGENT), beganAt));
    Judge judge = new Judge(history, Set.copyOf(early), gap);
    List<Print> printed = prints.prints();
    List<String> bound = bound(audit);
    Set<String> made = new HashSet<>(director.made());
    made.addAll(early);
    findings.addAll(history.findings());
    findings.addAll(sampler.findings(gap));
    findings.addAll(judge.claims(printed));
    findings.addAll(judge.completeness(printed));
    findings.addAll(judge.jobs(plan.jobNames()));
    findings.addAll(judge.order(bound));
    findings.addAll(judge.bindings(bound));
    findings.addAll(
        new Succession(history, Set.copyOf(early), made, director.forceDeleted())
            .check(plan.bareNames()));
    for (AuditLog.Request hole : product.forbidden()) {
      findings.add(Finding.of(Check.RIGHTS, "the API server forbade " + hole));
    }
    if (sampler.idsCompared() == 0) {
      findings.add(Finding.of(Check.RUN, "the kubelet never listed a device: nothing compared"));
    }
    List<String> facts = new ArrayList<>();
    facts.add(
        "%d pods, %d of them failed, %d events, %d bindings, %d of them out of order"
            .formatted(
                history.all().size(),
                history.all().stream().filter(p -> p.failedAtMs().isPresent()).count(),
                history.events(),
                bound.size(),
                judge.orderInversions(bound)));
    facts.add(
        "%d containers printed what they see and were compared with their claims"
            .formatted(printed.stream().filter(p -> p.view().isPresent()).count()));
    facts.add(sampler.summary());
    facts.add(
        "%d bare pods failed because their kubelet was killed while it started them"
            .formatted(
                plan.bareNames().stream()
                    .flatMap(n -> history.named(n).stream())
                    .filter(Incarnation::brokenOff)
                    .count()));
    gap.ifPresent(g -> facts.add(without(g, judge.withoutDevices(printed), history)));
    if (director.triedAgain() > 0) {
      facts.add(director.triedAgain() + " times an object had to be made or opened again");
    }
    killer
        .killings()
        .forEach(
            k -> facts.add(String.format(Locale.ROOT, "%8.3f s  %s", k.atMs() / 1e3, k.step())));
    facts.addAll(Losses.lines(history, killer.killings()));
    Map<OurPart, String> logs = new EnumMap<>(OurPart.class);
    for (OurPart part : OurPart.values()) {
      logs.put(part, product.log(part));
    }
    return new BurstReport(plan.seed(), 0, facts, findings, new Story(history, printed, logs));
  }

  /** What a lost checkpoint did: the kubelet ran pods as it runs those without a plugin. */
  private static String without(Gap gap, Set<String> uids, PodHistory history) {
    List<Incarnation> pods = uids.stream().flatMap(u -> history.byUid(u).stream()).toList();
    return String.format(
        Locale.ROOT,
        "the kubelet lost its checkpoint and knew no plugin for %.1f s: %d pods ran without devices (%d of them bound meanwhile), %d were found, %d had ended well before",
        gap.lengthMs() / 1e3,
        pods.size(),
        pods.stream()
            .filter(p -> p.boundAtMs().filter(at -> at >= gap.fromMs()).isPresent())
            .count(),
        pods.stream().filter(Incarnation::troubled).count(),
        pods.stream().filter(p -> p.succeeded() && !p.troubled()).count());
  }

  private List<String> bound(long since) {
    return bound(cluster, namespace, since);
  }

  /** Names in the order of their successful bindings. */
  static List<String> bound(Cluster cluster, String namespace, long since) {
    return cluster.auditLog().since(since).stream()
        .filter(r -> r.subresource().equals("binding") && r.verb().equals("create"))
        .filter(r -> r.namespace().equals(namespace) && r.status() / 100 == 2)
        .map(AuditLog.Request::name)
        .toList();
  }

  /** Every Job has succeeded, and the last pod of every bare name. */
  private void awaitSettled(BurstPlan plan, PodHistory history) {
    AtomicLong told = new AtomicLong(elapsedMs.getAsLong());
    Await.holdsWithin(
        SETTLES,
        () -> {
          List<String> waiting = waiting(plan, history);
          if (!waiting.isEmpty() && elapsedMs.getAsLong() - told.get() > TELL.toMillis()) {
            told.set(elapsedMs.getAsLong());
            say("waiting for " + waiting.size() + ": " + waiting.stream().limit(6).toList());
          }
          return waiting.isEmpty() && jobsSucceeded(plan);
        });
  }

  private static List<String> waiting(BurstPlan plan, PodHistory history) {
    List<String> waiting = new ArrayList<>();
    for (String name : plan.bareNames()) {
      List<Incarnation> line = history.named(name);
      if (line.isEmpty() || !line.getLast().succeeded() && !line.getLast().brokenOff()) {
        waiting.add(name);
      }
    }
    for (String job : plan.jobNames()) {
      if (history.ofJob(job).stream().noneMatch(Incarnation::succeeded)) {
        waiting.add(job);
      }
    }
    return waiting;
  }

  private boolean jobsSucceeded(BurstPlan plan) {
    long succeeded =
        client().batch().v1().jobs().inNamespace(namespace).list().getItems().stream()
            .filter(BurstRun::succeeded)
            .count();
    return succeeded == plan.jobNames().size();
  }

  private static boolean succeeded(Job job) {
    Integer n = job.getStatus() == null ? null : job.getStatus().getSucceeded();
    return n != null && n >= 1;
  }

  /** The witness's capacities are what the agent published. */
  private List<Finding> inventory() {
    String text =
        cluster
            .node()
            .getMetadata()
            .getAnnotations()
            .getOrDefault(Names.DEFAULT.nodeDeviceRegister(), "[]");
    return BurstNode.isPublishedAs(InventoryCodec.decodeRegister(text))
        ? List.of()
        : List.of(Finding.of(Check.RUN, "the agent published other cards: " + text));
  }

  private void makeNamespace() {
    makeNamespace(client(), namespace);
  }

  /** There, and pods can be made in it. */
  static void makeNamespace(KubernetesClient client, String namespace) {
    client
        .resource(
            new NamespaceBuilder().withNewMetadata().withName(namespace).endMetadata().build())
        .serverSideApply();
    Await.until(
        "the default service account of " + namespace,
        Duration.ofSeconds(30),
        () -> client.serviceAccounts().inNamespace(namespace).withName("default").get() != null);
  }

  static Future<?> repeat(ScheduledExecutorService on, Runnable look, Duration period) {
    return on.scheduleWithFixedDelay(look, 0, period.toMillis(), TimeUnit.MILLISECONDS);
  }

  private void say(String text) {
    out.printf(Locale.ROOT, "%7.1f s  %s%n", elapsedMs.getAsLong() / 1e3, text);
  }

  private KubernetesClient client() {
    return cluster.client();
  }
}
