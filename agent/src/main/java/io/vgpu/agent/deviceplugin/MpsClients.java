package io.vgpu.agent.deviceplugin;

import io.micrometer.core.instrument.MeterRegistry;
import io.vgpu.agent.deviceplugin.ContainerFiles.Attached;
import io.vgpu.agent.metrics.AgentMeters;
import io.vgpu.agent.shim.DeviceLimits;
import io.vgpu.agent.shim.DeviceLimits.Flag;
import io.vgpu.agent.shim.MpsShare;
import io.vgpu.agent.shim.Partitions;
import io.vgpu.agent.shim.Partitions.Folders;
import io.vgpu.kube.KubeEvents;
import io.vgpu.model.ContainerRef;
import java.util.Locale;
import java.util.Optional;
import k8s.deviceplugin.v1beta1.ContainerAllocateResponse;
import k8s.deviceplugin.v1beta1.Mount;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Containers on cards that MPS partitions: what makes their processes clients of the card's daemon,
 * and what is said where a share is kept by time all the same. The variables are the tenant's to
 * change, so nothing rests on them: the library looks at what the driver really gave (ADR 0009).
 * Never blocks.
 */
final class MpsClients {
  private static final Logger log = LoggerFactory.getLogger(MpsClients.class);
  static final String EVENT = "ShareKeptByTime";

  /**
   * Not below {@code /etc/vgpu-manager}: containers can write there, and the library looks for
   * limits below that.
   */
  static final String PIPE_DIRECTORY = "/run/vgpu-mps";

  /** Where clients and daemon meet besides. */
  static final String SHARED_MEMORY = "/dev/shm";

  /** Why a share is not one of multiprocessors. */
  private enum Cause {
    DAEMON("the card's MPS daemon does not serve"),
    CARDS("a container with several cards cannot be a client of MPS"),
    SMALL("it is less than two multiprocessors");

    private final String text;

    Cause(String text) {
      this.text = text;
    }
  }

  private final Partitions partitions;
  private final KubeEvents events;
  private final MeterRegistry meters;

  MpsClients(Partitions partitions, KubeEvents events, MeterRegistry meters) {
    this.partitions = partitions;
    this.events = events;
    this.meters = meters;
  }

  /** The answer with what a client needs; unchanged for a container that is none. */
  ContainerAllocateResponse with(ContainerAllocateResponse answer, Attached attached) {
    Optional<MpsShare> share = attached.mps();
    Optional<Folders> folders = share.flatMap(s -> partitions.folders(s.card()));
    if (share.isEmpty() || folders.isEmpty()) {
      return answer;
    }
    ContainerAllocateResponse.Builder client =
        answer.toBuilder()
            .putEnvs("CUDA_MPS_PIPE_DIRECTORY", PIPE_DIRECTORY)
            .putEnvs("CUDA_MPS_ACTIVE_THREAD_PERCENTAGE", Integer.toString(share.get().percent()))
            .addMounts(mount(PIPE_DIRECTORY, folders.get().pipe().toString()))
            .addMounts(mount(SHARED_MEMORY, folders.get().sharedMemory().toString()));
    DeviceLimits limits = attached.limits().getFirst();
    if (limits.flags().contains(Flag.MEMORY_LIMIT)) {
      // of each process; the container's own limit is the library's
      client.putEnvs("CUDA_MPS_PINNED_DEVICE_MEM_LIMIT", "0=" + (limits.memPhysical() >> 20) + "M");
    }
    return client.build();
  }

  /** Says where a limit on a partitioned card is kept by time. */
  void tell(ContainerRef container, Attached attached) {
    cause(attached)
        .ifPresent(
            cause -> {
              AgentMeters.MPS_BY_TIME
                  .counter(meters, cause.name().toLowerCase(Locale.ROOT))
                  .increment();
              log.warn("share kept by time [container: {}, cause: {}]", container, cause.text);
              events.pod(
                  container.pod(),
                  KubeEvents.Type.WARNING,
                  EVENT,
                  "container "
                      + container.container()
                      + ": its share of the card is kept by time, not by MPS: "
                      + cause.text);
            });
  }

  private Optional<Cause> cause(Attached attached) {
    boolean limitedThere =
        attached.limits().stream()
            .anyMatch(
                l ->
                    l.flags().contains(Flag.COMPUTE_LIMIT)
                        && partitions.cards().contains(l.uuid()));
    if (!limitedThere) {
      return Optional.empty();
    }
    if (attached.mps().isEmpty()) {
      return Optional.of(Cause.CARDS);
    }
    MpsShare share = attached.mps().get();
    if (!share.promised()) {
      return Optional.of(Cause.SMALL);
    }
    return partitions.serves(share.card()) ? Optional.empty() : Optional.of(Cause.DAEMON);
  }

  private static Mount mount(String container, String host) {
    return Mount.newBuilder().setContainerPath(container).setHostPath(host).build();
  }
}
