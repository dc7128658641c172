package io.vgpu.e2e.demo;

import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.Event;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.vgpu.claim.ClaimCodec;
import io.vgpu.claim.Names;
import io.vgpu.e2e.cluster.AuditLog;
import io.vgpu.e2e.cluster.Await;
import io.vgpu.e2e.cluster.Cluster;
import io.vgpu.e2e.product.ContainerView;
import io.vgpu.e2e.product.Expectation;
import io.vgpu.e2e.product.OurPart;
import io.vgpu.e2e.product.PodResourcesView;
import io.vgpu.e2e.product.Product;
import io.vgpu.model.ContainerClaim;
import io.vgpu.model.DeviceClaim;
import io.vgpu.model.PodClaim;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * One pod's way, step by step: each step waits (bounded) for its fact, prints it and checks it, or
 * throws {@link StepFailed}.
 */
final class PodWay {
  private static final Duration LIMIT = Duration.ofSeconds(30);
  private static final Names NAMES = Names.DEFAULT;

  private final Cluster cluster;
  private final Product product;
  private final Narrator say;
  private final Pod asked;
  private final String name;
  private final String namespace;
  private final long auditBegan;

  PodWay(Cluster cluster, Product product, Narrator say, Pod asked) {
    this.cluster = cluster;
    this.product = product;
    this.say = say;
    this.asked = asked;
    this.name = asked.getMetadata().getName();
    this.namespace = asked.getMetadata().getNamespace();
    this.auditBegan = cluster.auditLog().position();
  }

  /** Makes the pod and shows what the webhook changed. */
  void mended() {
    Container before = asked.getSpec().getContainers().getFirst();
    say.step("asked", describe(before));
    Pod made;
    try {
      made = client().resource(asked).create();
    } catch (KubernetesClientException e) {
      throw new StepFailed("mended", "the pod was not admitted: " + e.getMessage());
    }
    Container after = made.getSpec().getContainers().getFirst();
    String scheduler = made.getSpec().getSchedulerName();
    say.step(
        "mended",
        "scheduler "
            + Objects.requireNonNullElse(asked.getSpec().getSchedulerName(), "(left out)")
            + " → "
            + scheduler
            + "; asks now for "
            + describe(after));
    if (!Names.SCHEDULER_NAME.equals(scheduler)) {
      throw new StepFailed(
          "mended", "schedulerName is " + scheduler + ", nobody set it to " + Names.SCHEDULER_NAME);
    }
    if (!after.getResources().getLimits().containsKey(NAMES.vgpuNumber())) {
      throw new StepFailed("mended", NAMES.vgpuNumber() + " is absent, nobody set it to 1");
    }
  }

  /** Waits for the Binding and shows node, cards and why. */
  PodClaim placed() {
    boolean bound = Await.holdsWithin(LIMIT, () -> pod().getSpec().getNodeName() != null);
    Pod pod = pod();
    if (!bound) {
      String why =
          pod.getStatus().getConditions().stream()
              .filter(c -> c.getType().equals("PodScheduled"))
              .map(c -> c.getReason() + ": " + c.getMessage())
              .collect(Collectors.joining());
      throw new StepFailed("placed", "no node within " + LIMIT.toSeconds() + " s: " + why);
    }
    Map<String, String> annotations = annotations(pod);
    String text = annotations.get(NAMES.preAllocated());
    if (text == null) {
      throw new StepFailed("placed", "bound without an allocation");
    }
    PodClaim claim = ClaimCodec.decode(text);
    say.step("placed", "on " + pod.getSpec().getNodeName());
    for (ContainerClaim c : claim.containers()) {
      say.fact(
          c.container()
              + ": "
              + c.devices().stream().map(PodWay::describe).collect(Collectors.joining(", ")));
    }
    product
        .log(OurPart.EXTENDER)
        .lines()
        .filter(l -> l.contains("pod placed") && l.contains(namespace + "/" + name))
        .reduce((a, b) -> b)
        .ifPresent(l -> say.fact("why: " + l.replaceFirst("^.*? - ", "")));
    return claim;
  }

  /** Shows the one Binding that carried the allocation. */
  void bound() {
    Await.until("the Binding in the audit log", LIMIT, () -> !bindings().isEmpty());
    List<AuditLog.Request> bindings = bindings();
    AuditLog.Request binding = bindings.getLast();
    say.step("bound", "POST " + binding.uri() + " by " + binding.user() + " → " + binding.status());
    Map<String, String> annotations = annotations(pod());
    for (String key : List.of(NAMES.preAllocated(), NAMES.claimHmac(), NAMES.predicateNode())) {
      say.fact(key + "=" + annotations.get(key));
    }
    if (!annotations.containsKey(NAMES.claimHmac())) {
      throw new StepFailed("bound", "the allocation carries no seal");
    }
  }

  /** Waits until the kubelet has admitted the pod, and shows its calls' outcome. */
  void admitted(PodClaim claim) {
    boolean running =
        Await.holdsWithin(
            LIMIT,
            () -> Set.of("Running", "Failed", "Succeeded").contains(pod().getStatus().getPhase()));
    Pod pod = pod();
    if (!running || !"Running".equals(pod.getStatus().getPhase())) {
      throw new StepFailed(
          "admitted",
          "phase "
              + pod.getStatus().getPhase()
              + ", "
              + pod.getStatus().getReason()
              + ": "
              + pod.getStatus().getMessage());
    }
    Map<String, List<String>> ids = new PodResourcesView(cluster).devices(namespace, name);
    say.step(
        "admitted", "GetPreferredAllocation → Allocate → PreStartContainer; the kubelet holds");
    for (ContainerClaim c : claim.containers()) {
      List<String> given = ids.getOrDefault(c.container(), List.of());
      say.fact(c.container() + ": " + String.join(", ", given));
      Set<String> uuids =
          given.stream()
              .map(i -> i.substring(0, i.indexOf("::")))
              .collect(Collectors.toCollection(TreeSet::new));
      Set<String> wanted =
          c.uuids().stream().map(Object::toString).collect(Collectors.toCollection(TreeSet::new));
      if (!uuids.equals(wanted)) {
        throw new StepFailed(
            "admitted", "the kubelet holds cards " + uuids + ", the claim says " + wanted);
      }
    }
  }

  /** Shows what each container sees, and compares it with its claim. */
  void sees(PodClaim claim) {
    for (ContainerClaim c : claim.containers()) {
      ContainerView view =
          Await.present(
              "container " + c.container() + " to print what it sees",
              LIMIT,
              () -> ContainerView.parse(log(c.container())));
      say.step("sees", "container " + c.container());
      view.env().forEach((k, v) -> say.fact("env    " + k + "=" + v));
      view.mounts()
          .forEach(
              (m, o) ->
                  say.fact(
                      "mount  "
                          + m
                          + " ("
                          + (o.startsWith("ro") ? "read-only" : "writable")
                          + ")"));
      say.fact(
          "device "
              + view.devices().stream().map(d -> "/dev/" + d).collect(Collectors.joining(" ")));
      view.limits()
          .forEach(
              l ->
                  say.fact(
                      "limits %s: %d MiB, cores %s %%"
                          .formatted(l.uuid(), l.memLimit() >> 20, l.coreHardPermille() / 10.0)));
      List<String> differences = Expectation.differences(c, view);
      if (!differences.isEmpty()) {
        throw new StepFailed(
            "sees", "container " + c.container() + ": " + String.join("; ", differences));
      }
    }
  }

  /** Waits for the agent's one patch, then shows the pod's events. */
  void told() {
    boolean marked =
        Await.holdsWithin(LIMIT, () -> "succeed".equals(labels(pod()).get(NAMES.assignedPhase())));
    if (!marked) {
      throw new StepFailed("told", "the agent did not mark the pod: labels are " + labels(pod()));
    }
    say.step(
        "told", NAMES.assignedPhase() + "=succeed, " + NAMES.realAllocated() + " set; events:");
    for (Event e :
        client()
            .v1()
            .events()
            .inNamespace(namespace)
            .withField("involvedObject.name", name)
            .list()
            .getItems()) {
      String source =
          e.getSource() != null && e.getSource().getComponent() != null
              ? e.getSource().getComponent()
              : e.getReportingComponent();
      say.fact("%-18s %s (%s)".formatted(e.getReason(), e.getMessage(), source));
    }
  }

  /** Counts the requests of our accounts: one Binding, no LIST, at most one event and one patch. */
  void counted() {
    List<String> users = Arrays.stream(OurPart.values()).map(OurPart::user).toList();
    List<AuditLog.Request> requests =
        cluster.auditLog().since(auditBegan).stream()
            .filter(r -> users.contains(r.user()))
            .filter(r -> !r.resource().equals("leases"))
            // a watch that was opened before goes on; it is not this pod's
            .filter(r -> !r.verb().equals("watch"))
            // the agent's looks at its own node after its start, for resources no longer served
            .filter(r -> !(r.verb().equals("get") && r.resource().equals("nodes")))
            .toList();
    Map<String, Long> kinds =
        requests.stream()
            .collect(
                Collectors.groupingBy(
                    r ->
                        r.verb()
                            + " "
                            + r.resource()
                            + (r.subresource().isEmpty() ? "" : "/" + r.subresource()),
                    java.util.TreeMap::new,
                    Collectors.counting()));
    say.step("counted", "API requests of our accounts for this pod: " + kinds);
    if (kinds.getOrDefault("create pods/binding", 0L) != 1) {
      throw new StepFailed("counted", "expected one Binding: " + kinds);
    }
    kinds.forEach(
        (kind, n) -> {
          boolean allowed =
              Set.of("create pods/binding", "create events", "patch pods").contains(kind);
          if (!allowed || n > 1) {
            throw new StepFailed(
                "counted", n + " × " + kind + " is more than one pod's way may cost");
          }
        });
  }

  private List<AuditLog.Request> bindings() {
    return cluster.auditLog().since(auditBegan).stream()
        .filter(
            r ->
                r.subresource().equals("binding")
                    && r.name().equals(name)
                    && r.namespace().equals(namespace))
        .toList();
  }

  private Pod pod() {
    Pod pod = client().pods().inNamespace(namespace).withName(name).get();
    if (pod == null) {
      throw new StepFailed("placed", "pod " + name + " is gone");
    }
    return pod;
  }

  private String log(String container) {
    try {
      return client().pods().inNamespace(namespace).withName(name).inContainer(container).getLog();
    } catch (KubernetesClientException e) {
      return ""; // not started yet
    }
  }

  private KubernetesClient client() {
    return cluster.client();
  }

  private static Map<String, String> annotations(Pod pod) {
    return Objects.requireNonNullElse(pod.getMetadata().getAnnotations(), Map.of());
  }

  private static Map<String, String> labels(Pod pod) {
    return Objects.requireNonNullElse(pod.getMetadata().getLabels(), Map.of());
  }

  private static String describe(Container c) {
    return c.getResources().getLimits().entrySet().stream()
        .map(e -> e.getKey().replaceFirst("^.*/vgpu-", "") + " " + e.getValue())
        .sorted()
        .collect(Collectors.joining(", "));
  }

  private static String describe(DeviceClaim d) {
    return "card " + d.index() + " " + d.uuid() + " (" + d.cores() + ", " + d.memory() + ")";
  }
}
