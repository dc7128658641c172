package io.vgpu.kube;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.extended.leaderelection.LeaderCallbacks;
import io.fabric8.kubernetes.client.extended.leaderelection.LeaderElectionConfigBuilder;
import io.fabric8.kubernetes.client.extended.leaderelection.LeaderElectorBuilder;
import io.fabric8.kubernetes.client.extended.leaderelection.resourcelock.LeaseLock;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One process of several acts: the one that holds a Lease (control-plane.md 1.3). Losing it is for
 * good: who led and does not lead any more ends his process, so that there are no half-leaders.
 */
public final class Leadership implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(Leadership.class);

  private final KubernetesClient client;
  private final Settings settings;
  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
  private final AtomicBoolean leading = new AtomicBoolean();
  private final AtomicBoolean over = new AtomicBoolean();
  private volatile boolean closed;
  private @Nullable CompletableFuture<?> election;

  /**
   * @param identity unique among all processes that want the lease
   * @param leaseDuration after which others may take a lease that was not renewed
   * @param renewDeadline after which a leader that cannot renew gives up; below leaseDuration
   * @param retryPeriod between tries
   */
  public record Settings(
      String namespace,
      String lease,
      String identity,
      Duration leaseDuration,
      Duration renewDeadline,
      Duration retryPeriod) {}

  public Leadership(KubernetesClient client, Settings settings) {
    this.client = client;
    this.settings = settings;
  }

  /**
   * Tries for the lease until it has it, then calls {@code onLead} once; {@code onLost} once when
   * it is lost or cannot be tried for any more. Both on threads of this object.
   */
  public synchronized void start(Runnable onLead, Runnable onLost) {
    LeaderCallbacks callbacks =
        new LeaderCallbacks(
            () -> {
              leading.set(true);
              log.info("leading [lease: {}]", settings.lease());
              onLead.run();
            },
            () -> ended(onLost),
            holder -> log.info("leader seen [lease: {}, by: {}]", settings.lease(), holder));
    election =
        new LeaderElectorBuilder(client, threads)
            .withConfig(
                new LeaderElectionConfigBuilder()
                    .withName(settings.lease())
                    .withLock(
                        new LeaseLock(settings.namespace(), settings.lease(), settings.identity()))
                    .withLeaseDuration(settings.leaseDuration())
                    .withRenewDeadline(settings.renewDeadline())
                    .withRetryPeriod(settings.retryPeriod())
                    .withReleaseOnCancel(true)
                    .withLeaderCallbacks(callbacks)
                    .build())
            .build()
            .start();
    CompletableFuture<?> _ = election.whenComplete((done, fault) -> ended(onLost));
  }

  private void ended(Runnable onLost) {
    if (!closed && over.compareAndSet(false, true)) {
      leading.set(false);
      log.error("lease lost [lease: {}]", settings.lease());
      onLost.run();
    }
  }

  /** Whether this process leads. */
  public boolean leading() {
    return leading.get();
  }

  /** Gives the lease back, so that the next one need not wait for its end. */
  @Override
  public synchronized void close() {
    closed = true;
    if (election != null) {
      election.cancel(true);
    }
    threads.shutdown();
  }
}
