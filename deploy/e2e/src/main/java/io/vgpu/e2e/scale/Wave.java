package io.vgpu.e2e.scale;

import io.fabric8.kubernetes.api.model.ListOptionsBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.vgpu.e2e.cluster.AuditLog;
import io.vgpu.e2e.cluster.AuditLog.Request;
import io.vgpu.e2e.cluster.Await;
import io.vgpu.e2e.cluster.Cluster;
import io.vgpu.e2e.cluster.ClusterException;
import io.vgpu.e2e.cluster.ManagedProcess;
import io.vgpu.e2e.cluster.Part;
import io.vgpu.e2e.product.OurPart;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * Pods that all wait when kube-scheduler starts, so that their making costs nothing of what is
 * measured; timed by the API server's own log, from the first Binding to the last. One thread.
 */
final class Wave {
  private static final Duration LIMIT = Duration.ofSeconds(240);
  private static final Set<String> READS = Set.of("get", "list", "watch");
  private static final Set<String> COUNTED = Set.of(KubeScheduler.USER, OurPart.EXTENDER.user());

  private final Cluster cluster;
  private final KubeScheduler scheduler;
  private final String namespace;

  Wave(Cluster cluster, KubeScheduler scheduler, String namespace) {
    this.cluster = cluster;
    this.scheduler = scheduler;
    this.namespace = namespace;
  }

  /**
   * What came of it.
   *
   * @param perSecond pods bound a second between the tenth and the last Binding: by then
   *     connections stand
   * @param boundTwice pods with more than one Binding that succeeded
   * @param conflicts Bindings that the API server refused
   * @param requests by user and kind, reads of kube-scheduler's start and watches left out
   * @param cpuMs that each process used
   */
  record Result(
      int pods,
      double perSecond,
      List<String> boundTwice,
      int conflicts,
      Map<String, Integer> requests,
      Map<String, Long> cpuMs,
      double loadBefore,
      double loadAfter,
      List<Pod> bound) {
    Result {
      boundTwice = List.copyOf(boundTwice);
      requests = Map.copyOf(requests);
      cpuMs = Map.copyOf(cpuMs);
      bound = List.copyOf(bound);
    }

    /** Requests of a user for each pod. */
    double requestsPerPod(String user) {
      return requests.entrySet().stream()
              .filter(e -> e.getKey().startsWith(user + " "))
              .mapToInt(Map.Entry::getValue)
              .sum()
          / (double) pods;
    }
  }

  /** Makes the pods, binds them all, and leaves them bound with the scheduler stopped. */
  Result run(List<Pod> pods, SchedulerVariant variant) {
    return run(pods, variant, () -> {});
  }

  /** The same, while {@code beside} is done over and over again on another thread. */
  Result run(List<Pod> pods, SchedulerVariant variant, Runnable beside) {
    Parallel.each(pods, pod -> cluster.client().resource(pod).create());
    double loadBefore = ProcessFigures.loadAverage();
    AuditLog audit = cluster.auditLog();
    long position = audit.position();
    Map<String, Long> before = cpu(List.of());
    ManagedProcess process = scheduler.start(variant);
    try (Repeated _ = Repeated.begin(beside)) {
      process.awaitReady("to bind " + pods.size() + " pods", LIMIT, () -> unbound() == 0);
    }
    Map<String, Long> after = cpu(List.of(process));
    scheduler.stop();
    // an event may follow its Binding
    awaitQuiet(audit);
    after.replaceAll((name, ms) -> ms - before.getOrDefault(name, 0L));
    return result(pods, audit.since(position), after, loadBefore);
  }

  private long unbound() {
    var some =
        cluster
            .client()
            .pods()
            .inNamespace(namespace)
            .withField("spec.nodeName", "")
            .list(new ListOptionsBuilder().withLimit(1L).build());
    return some.getItems().size();
  }

  private static void awaitQuiet(AuditLog audit) {
    long[] last = {audit.position()};
    long[] since = {System.nanoTime()};
    Await.until(
        "the last events to be written",
        Duration.ofSeconds(30),
        () -> {
          long now = audit.position();
          // requests of other processes go on for ever, but a few
          if (now - last[0] > 4_096) {
            last[0] = now;
            since[0] = System.nanoTime();
          }
          return System.nanoTime() - since[0] > 1_000_000_000L;
        });
  }

  private Map<String, Long> cpu(List<ManagedProcess> more) {
    List<ManagedProcess> all = new ArrayList<>(more);
    all.add(cluster.part(Part.APISERVER));
    all.add(cluster.part(Part.ETCD));
    cluster.process(OurPart.EXTENDER.process()).filter(ManagedProcess::isAlive).ifPresent(all::add);
    Map<String, Long> cpu = new TreeMap<>();
    all.forEach(p -> cpu.put(p.name(), ProcessFigures.of(p).cpuMs()));
    return cpu;
  }

  private Result result(
      List<Pod> pods, List<Request> log, Map<String, Long> cpuMs, double loadBefore) {
    List<Request> bindings =
        log.stream()
            .filter(r -> r.verb().equals("create") && r.subresource().equals("binding"))
            .filter(r -> r.namespace().equals(namespace))
            .toList();
    List<Instant> done =
        bindings.stream().filter(r -> r.status() == 201).map(Request::ended).sorted().toList();
    int first = Math.min(10, done.size() - 1);
    if (done.size() < 2) {
      throw new ClusterException("the API server's log shows " + done.size() + " Bindings");
    }
    Duration took = Duration.between(done.get(first), done.getLast());
    List<Pod> bound =
        cluster.client().pods().inNamespace(namespace).list().getItems().stream()
            .filter(p -> p.getSpec().getNodeName() != null)
            .toList();
    return new Result(
        pods.size(),
        (done.size() - 1 - first) * 1e9 / took.toNanos(),
        twice(bindings),
        Math.toIntExact(bindings.stream().filter(r -> r.status() == 409).count()),
        requests(log),
        cpuMs,
        loadBefore,
        ProcessFigures.loadAverage(),
        bound);
  }

  private static List<String> twice(List<Request> bindings) {
    return bindings.stream()
        .filter(r -> r.status() == 201)
        .collect(Collectors.groupingBy(Request::name, Collectors.counting()))
        .entrySet()
        .stream()
        .filter(e -> e.getValue() > 1)
        .map(Map.Entry::getKey)
        .toList();
  }

  /** What a scheduler asks once when it starts, and watches, belong to no pod. */
  private static Map<String, Integer> requests(List<Request> log) {
    Map<String, Integer> counts = new TreeMap<>();
    for (Request r : log) {
      boolean start = r.user().equals(KubeScheduler.USER) && READS.contains(r.verb());
      if (COUNTED.contains(r.user()) && !start && !r.verb().equals("watch")) {
        String what =
            r.subresource().isEmpty() ? r.resource() : r.resource() + "/" + r.subresource();
        counts.merge(r.user() + " " + r.verb() + " " + what, 1, Integer::sum);
      }
    }
    return counts;
  }

  /** Takes the pods away; they end at once. */
  void clear() {
    cluster.client().pods().inNamespace(namespace).withGracePeriod(0).delete();
    Await.until(
        "the pods to be gone",
        Duration.ofSeconds(60),
        () ->
            cluster
                .client()
                .pods()
                .inNamespace(namespace)
                .list(new ListOptionsBuilder().withLimit(1L).build())
                .getItems()
                .isEmpty());
  }
}
