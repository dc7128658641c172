package io.vgpu.e2e.product;

import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.SecretBuilder;
import io.vgpu.claim.Names;
import io.vgpu.e2e.cluster.AuditLog;
import io.vgpu.e2e.cluster.Await;
import io.vgpu.e2e.cluster.Cluster;
import io.vgpu.e2e.cluster.ManagedProcess;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Our control plane, webhook and agent on a real cluster: host processes in its network namespace,
 * each with its own service account's token and only its RBAC, as a chart would install them. One
 * thread uses it at a time.
 */
public final class Product {
  private static final Duration READY = Duration.ofSeconds(60);
  private static final int CONTROLLER_WATCHES = 2;
  private static final String COPIES_NAMESPACE = "vgpu-manager-copies";

  private final Cluster cluster;
  private final Checkout checkout;
  private final Manifests manifests;
  private final CommandLines commands;
  private ProductConfig config = ProductConfig.DEFAULT;
  private long auditBegan;
  private AgentRun agent = AgentRun.FIRST;
  private Map<String, String> agentEnvironment = Map.of();
  private List<String> agentPrefix = List.of();

  public Product(Cluster cluster, Checkout checkout) {
    this.cluster = cluster;
    this.checkout = checkout;
    this.manifests = new Manifests(cluster, checkout);
    this.commands = new CommandLines(cluster, checkout);
  }

  /**
   * Installs manifests and starts every part, ready and with its cards in the node's allocatable,
   * or throws.
   */
  public void start(ProductConfig wanted) {
    FakeNode.create(cluster, checkout, wanted.profile());
    install(wanted);
    // started together: each waits for what it needs by itself
    for (OurPart part : OurPart.values()) {
      if (part != OurPart.WEBHOOK || wanted.webhook()) {
        startPart(part);
      }
    }
    for (OurPart part : OurPart.values()) {
      if (part != OurPart.WEBHOOK || wanted.webhook()) {
        awaitReady(part);
      }
    }
    manifests.webhook(wanted.webhook());
    awaitCards();
    awaitControllerLeads();
  }

  /**
   * Accounts, rights and the seal's key, and nothing that runs; returns the part's kubeconfig, for
   * a process that a test starts and ends itself.
   */
  public Path installAccount(OurPart part) {
    manifests.applyRbac();
    writeClaimKey();
    return cluster.serviceAccounts().kubeconfigFor(OurPart.NAMESPACE, part.account());
  }

  /** The file of the seal's keys. */
  public Path claimKey() {
    return commands.claimKey();
  }

  /** Starts the extender alone, ready: what scheduling needs where no pod is to run. */
  public void startExtender(ProductConfig wanted) {
    install(wanted);
    startPart(OurPart.EXTENDER);
    awaitReady(OurPart.EXTENDER);
  }

  private void install(ProductConfig wanted) {
    config = wanted;
    agent = AgentRun.FIRST;
    auditBegan = cluster.auditLog().position();
    manifests.applyRbac();
    writeClaimKey();
    for (OurPart part : OurPart.values()) {
      cluster.serviceAccounts().kubeconfigFor(OurPart.NAMESPACE, part.account());
    }
    manifests.guard(wanted.guard());
  }

  /** Stops every part and removes what would hinder other pods (webhook and guard); RBAC stays. */
  public void stop() {
    manifests.webhook(false);
    manifests.guard(false);
    for (OurPart part : OurPart.values()) {
      process(part).ifPresent(ManagedProcess::stop);
    }
  }

  /**
   * Starts a dead part with the arguments of the present configuration; returns before it is ready.
   */
  public void startPart(OurPart part) {
    if (part == OurPart.AGENT) {
      List<String> command = new ArrayList<>(agentPrefix);
      command.addAll(commands.agent(config, agent.opsPort()));
      Map<String, String> environment = new HashMap<>(commands.environment(part));
      environment.putAll(agentEnvironment);
      cluster.startProcess(name(part), command, environment);
    } else {
      cluster.startProcess(name(part), commands.of(part, config), commands.environment(part));
    }
  }

  /** What later starts of the agent add to its environment, and put before its command line. */
  public void agentRunsWith(Map<String, String> environment, List<String> prefix) {
    agentEnvironment = Map.copyOf(environment);
    agentPrefix = List.copyOf(prefix);
  }

  /** The agent's {@code --manager-dir}. */
  public Path managerDir() {
    return commands.managerDir();
  }

  /** The agent's {@code --usage-dir}. */
  public Path usageDir() {
    return commands.usageDir();
  }

  /**
   * Starts an agent beside the one that serves, and returns once it says that it is ready, which is
   * prepared (docs/adr/0022). From now on it is the part {@code AGENT}; the caller ends the one
   * that is returned.
   */
  public ManagedProcess startNextAgent() {
    ManagedProcess serving = process(OurPart.AGENT).orElseThrow();
    agent = agent.next();
    startPart(OurPart.AGENT);
    awaitReady(OurPart.AGENT);
    return serving;
  }

  private String name(OurPart part) {
    return part == OurPart.AGENT ? agent.process() : part.process();
  }

  private int port(OurPart part) {
    return part == OurPart.AGENT ? agent.opsPort() : part.opsPort();
  }

  /** Waits until a running part says that it is ready. */
  public void awaitReady(OurPart part) {
    process(part)
        .orElseThrow()
        .awaitReady("to be ready", READY, () -> new Probe(cluster).ready(part, port(part)));
  }

  /** The part's process, dead or alive, once it was started. */
  public Optional<ManagedProcess> process(OurPart part) {
    return cluster.process(name(part));
  }

  /** What the part logged since the cluster's start. */
  public String log(OurPart part) {
    return process(part).map(ManagedProcess::log).orElse("");
  }

  /** The answer of a part's {@code /metrics}. */
  public String metrics(OurPart part) {
    return new Probe(cluster).metrics(part, port(part));
  }

  /**
   * Requests of our accounts that the API server forbade since the start: each is a hole in our
   * RBAC.
   */
  public List<AuditLog.Request> forbidden() {
    List<String> users = Arrays.stream(OurPart.values()).map(OurPart::user).toList();
    return cluster.auditLog().since(auditBegan).stream()
        .filter(r -> r.status() == 403 && users.contains(r.user()))
        .toList();
  }

  /**
   * A controller is ready before it leads; once it does, it watches failed and marked pods. Without
   * this wait its first lists would fall into the way of the first pod.
   */
  private void awaitControllerLeads() {
    Await.until("the controller to lead", READY, () -> controllerWatches() >= CONTROLLER_WATCHES);
  }

  private long controllerWatches() {
    return cluster.auditLog().since(auditBegan).stream()
        .filter(r -> r.user().equals(OurPart.CONTROLLER.user()))
        .filter(r -> r.verb().equals("watch") && r.resource().equals("pods"))
        .count();
  }

  /**
   * Lets go of copies that a stopped controller would still turn into pods. Call it after {@link
   * #stop}.
   */
  public void forgetCopies() {
    cluster.client().secrets().inNamespace(COPIES_NAMESPACE).delete();
  }

  /** Waits until the node offers its slots. */
  public void awaitCards() {
    Await.until("the node's vGPU slots", READY, () -> allocatable() > 0);
  }

  /** Slots in the node's allocatable. */
  public long allocatable() {
    Node node = cluster.node();
    Quantity q = node.getStatus().getAllocatable().get(Names.DEFAULT.vgpuNumber());
    return q == null ? 0 : q.getNumericalAmount().longValueExact();
  }

  private void writeClaimKey() {
    Path file = commands.claimKey();
    try {
      if (!Files.exists(file)) {
        byte[] key = new byte[32];
        new SecureRandom().nextBytes(key);
        Files.createFile(
            file,
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
        Files.writeString(file, HexFormat.of().formatHex(key) + "\n");
      }
      cluster
          .client()
          .resource(
              new SecretBuilder()
                  .withNewMetadata()
                  .withNamespace(OurPart.NAMESPACE)
                  .withName(Names.CLAIM_KEY_SECRET)
                  .endMetadata()
                  .withStringData(Map.of("key", Files.readString(file)))
                  .build())
          .serverSideApply();
    } catch (IOException e) {
      throw new UncheckedIOException("cannot write " + file, e);
    }
  }

  /** Parts that should run under the present configuration. */
  public List<OurPart> wantedParts() {
    List<OurPart> parts = new ArrayList<>(List.of(OurPart.values()));
    if (!config.webhook()) {
      parts.remove(OurPart.WEBHOOK);
    }
    return parts;
  }
}
