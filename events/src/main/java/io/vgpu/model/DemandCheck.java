package io.vgpu.model;

import java.util.Optional;

/**
 * The rules that no node can satisfy a breach of; webhook, filter and bind refuse with the same
 * words (control-plane.md 2.1, 5.2 and D3's rule of reuse).
 */
public final class DemandCheck {
  /**
   * Blocks of memory per card: above it no amount in MiB could be represented, whatever the node's
   * factor.
   */
  public static final long MAX_MEMORY = MemoryMiB.MAX;

  private DemandCheck() {}

  /** The first breach, in words for the user; empty when the demand is sound. */
  public static Optional<String> firstBreach(PodDemand pod) {
    for (ContainerDemand c : pod.containers()) {
      Optional<String> breach = ofContainer(c);
      if (breach.isPresent()) {
        return breach;
      }
    }
    return ofReuse(pod);
  }

  private static Optional<String> ofContainer(ContainerDemand c) {
    if (c.cores() > 100) {
      return Optional.of(
          "container "
              + c.name()
              + " requests vGPU core exceeding limit (vgpu-cores "
              + c.cores()
              + ", at most 100 per card)");
    }
    if (c.number() > ContainerClaim.MAX_DEVICES) {
      return Optional.of(
          "container "
              + c.name()
              + " requests vGPU number exceeding limit (vgpu-number "
              + c.number()
              + ", at most "
              + ContainerClaim.MAX_DEVICES
              + ")");
    }
    if (c.number() < 0 || c.cores() < 0 || c.memory() < 0) {
      String field =
          c.number() < 0
              ? "vgpu-number " + c.number()
              : c.cores() < 0 ? "vgpu-cores " + c.cores() : "vgpu-memory " + c.memory();
      return Optional.of("container " + c.name() + " requests " + field + ": must not be negative");
    }
    if (c.memory() > MAX_MEMORY) {
      return Optional.of(
          "container "
              + c.name()
              + " requests vGPU memory exceeding limit (vgpu-memory "
              + c.memory()
              + ", at most "
              + MAX_MEMORY
              + ")");
    }
    if (c.number() == 0 && (c.cores() > 0 || c.memory() > 0)) {
      return Optional.of(
          "container "
              + c.name()
              + " requests vgpu-cores or vgpu-memory without vgpu-number: say how many cards");
    }
    return Optional.empty();
  }

  /**
   * The kubelet gives a finished init container's ids to the containers after it, without asking,
   * so a later container that asks for fewer would get an arbitrary subset (D3). Ids of sequential
   * inits accumulate; a sidecar keeps what it takes.
   */
  private static Optional<String> ofReuse(PodDemand pod) {
    long reusable = 0;
    for (ContainerDemand c : pod.vgpuContainers()) {
      if (reusable > 0 && c.number() < reusable) {
        String kind =
            c.kind() == ContainerKind.APP
                ? "an app container"
                : c.kind() == ContainerKind.SIDECAR ? "a sidecar" : "an init container";
        return Optional.of(
            kind
                + " after an init container of "
                + reusable
                + " must ask for at least "
                + reusable
                + " (container "
                + c.name()
                + " requests vgpu-number "
                + c.number()
                + ")");
      }
      switch (c.kind()) {
        case INIT -> reusable = Math.max(reusable, c.number());
        case SIDECAR, APP -> reusable = 0;
      }
    }
    return Optional.empty();
  }
}
