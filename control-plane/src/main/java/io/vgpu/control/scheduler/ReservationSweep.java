package io.vgpu.control.scheduler;

import io.vgpu.claim.ClaimCodec;
import io.vgpu.control.cluster.PodRecord;
import io.vgpu.control.cluster.Reservation;
import io.vgpu.control.kube.BindingApi;
import io.vgpu.control.kube.BindingApi.Found;
import io.vgpu.runtime.Lane;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Asks the API server about commits that the watch has not spoken of in time, so that no card stays
 * taken for nobody. One round at a time, on a virtual thread.
 */
final class ReservationSweep implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(ReservationSweep.class);

  private final Lane lane;
  private final CommitDesk desk;
  private final BindingApi api;
  private final AtomicBoolean running = new AtomicBoolean();
  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();

  ReservationSweep(Lane lane, CommitDesk desk, BindingApi api) {
    this.lane = lane;
    this.desk = desk;
    this.api = api;
  }

  /** Settles what is overdue; returns at once, a round under way goes on alone. */
  void round(List<Reservation> overdue) {
    if (overdue.isEmpty() || !running.compareAndSet(false, true)) {
      return;
    }
    CompletableFuture<Void> _ =
        CompletableFuture.runAsync(() -> overdue.forEach(this::settle), threads)
            .whenComplete(
                (done, fault) -> {
                  running.set(false);
                  if (fault != null) {
                    log.warn("reservations not settled, tried again [cause: {}]", fault.toString());
                  }
                });
  }

  private void settle(Reservation r) {
    switch (api.read(r.pod().namespace(), r.pod().name())) {
      case Found.Unreadable no ->
          log.warn("reservation stays, pod unreadable [pod: {}, cause: {}]", r.pod(), no.cause());
      case Found.Absent absent -> onLane(() -> desk.release(r));
      case Found.Present present -> {
        boolean stays = isOurs(present.pod(), r);
        log.warn(
            "reservation settled late [pod: {}, node: {}, bound: {}]", r.pod(), r.node(), stays);
        onLane(() -> stays ? desk.done(r) : desk.release(r));
      }
    }
  }

  /** Whether the pod, as it is now, is what the reservation was made for. */
  static boolean isOurs(PodRecord pod, Reservation r) {
    return pod.uid().equals(r.pod().uid())
        && r.node().equals(pod.nodeName())
        && ClaimCodec.encode(r.claim()).equals(pod.claim());
  }

  private void onLane(Callable<Boolean> work) {
    lane.call(work).toCompletionStage().toCompletableFuture().join();
  }

  @Override
  public void close() {
    threads.shutdownNow();
  }
}
