package io.vgpu.e2e.burst;

import io.grpc.StatusRuntimeException;
import io.vgpu.agent.kubelet.KubeletTransport;
import io.vgpu.agent.kubelet.ListedPod;
import io.vgpu.agent.kubelet.PodResources;
import io.vgpu.claim.Names;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.LongSupplier;

/**
 * Asks the kubelet which containers hold which device ids and lets {@link DeviceAudit} judge each
 * answer. {@link #sample} is called by one thread, a few times a second: the kubelet's limit of 100
 * calls a second is shared with the agent.
 */
final class DeviceSampler implements AutoCloseable {
  private static final Duration LIMIT = Duration.ofSeconds(5);

  private final KubeletTransport transport = new KubeletTransport();
  private final PodResources resources;
  private final String namespace;
  private final DeviceAudit audit;
  private final LongSupplier elapsedMs;
  private final List<Finding> findings = new ArrayList<>();
  private List<Finding> lastTime = List.of();
  private final MissingIds missing = new MissingIds();
  private int answers;
  private int unanswered;
  private long ids;

  DeviceSampler(Path socket, String namespace, PodHistory history, LongSupplier elapsedMs) {
    this.resources =
        new PodResources(transport, socket, Names.DEFAULT.vgpuNumber(), System::nanoTime);
    this.namespace = namespace;
    this.audit = new DeviceAudit(history);
    this.elapsedMs = elapsedMs;
  }

  /** Asks once; a kubelet that does not answer (it may be dead) is only counted. */
  synchronized void sample() {
    List<DeviceAudit.Running> before = audit.running();
    List<ListedPod> listed;
    try {
      listed = resources.list(LIMIT);
    } catch (StatusRuntimeException e) {
      unanswered++;
      missing.noAnswer();
      return;
    }
    List<ListedPod> ours = listed.stream().filter(p -> p.namespace().equals(namespace)).toList();
    answers++;
    ids += ours.stream().flatMap(p -> p.devices().values().stream()).mapToLong(s -> s.size()).sum();
    missing.answer(audit.missing(ours, before), Clock.systemUTC().instant());
    // the watch may be behind the kubelet, but not for two looks: what is so again counts
    List<Finding> now = audit.check(ours, elapsedMs.getAsLong());
    now.stream().filter(f -> lastTime.contains(f) && !findings.contains(f)).forEach(findings::add);
    lastTime = now;
  }

  /** Every breach so far; {@code gap} excuses missing ids. */
  synchronized List<Finding> findings(Optional<Gap> gap) {
    List<Finding> all = new ArrayList<>(findings);
    all.addAll(audit.missing(missing.confirmed(), gap));
    return all;
  }

  /** How many device ids were compared, over all answers. */
  synchronized long idsCompared() {
    return ids;
  }

  synchronized String summary() {
    return "%d answers of the kubelet with %d device ids compared, %d times no answer"
        .formatted(answers, ids, unanswered);
  }

  @Override
  public void close() {
    resources.close();
    transport.close();
  }
}
