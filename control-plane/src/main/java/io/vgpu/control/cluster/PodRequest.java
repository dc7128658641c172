package io.vgpu.control.cluster;

import io.vgpu.model.PlacementPolicy;
import io.vgpu.model.PodDemand;
import io.vgpu.model.PodRef;
import java.util.List;

/**
 * A pod as the allocator sees it.
 *
 * @param resourceVersion of the object that this was read from; empty when unknown
 * @param annotationBytes size of all annotations, which the API server bounds
 * @param host CPU and memory that it requests, as kube-scheduler counts them
 * @param traits whom it belongs to
 * @param zeroNumber containers that say vgpu-number 0 in so many words: they get no card
 */
public record PodRequest(
    PodRef pod,
    String resourceVersion,
    PodDemand demand,
    Wishes wishes,
    int annotationBytes,
    List<String> zeroNumber,
    Host host,
    PodTraits traits) {
  public PodRequest {
    zeroNumber = List.copyOf(zeroNumber);
  }

  /** The same for all pods that ask for the same. */
  public PodRequest nameless() {
    return new PodRequest(new PodRef("any", "any", "any"), "", demand, wishes, 0, zeroNumber, host);
  }

  /** The same pod, ranked by another node policy. */
  public PodRequest ranked(PlacementPolicy policy) {
    return new PodRequest(
        pod,
        resourceVersion,
        demand,
        wishes.ranked(policy),
        annotationBytes,
        zeroNumber,
        host,
        traits);
  }

  /** The same pod, asking for something else. */
  public PodRequest asking(PodDemand other) {
    return new PodRequest(
        pod, resourceVersion, other, wishes, annotationBytes, zeroNumber, host, traits);
  }

  /** A pod that belongs to nobody. */
  public PodRequest(
      PodRef pod,
      String resourceVersion,
      PodDemand demand,
      Wishes wishes,
      int annotationBytes,
      List<String> zeroNumber,
      Host host) {
    this(pod, resourceVersion, demand, wishes, annotationBytes, zeroNumber, host, PodTraits.NONE);
  }

  /** A pod that requests neither CPU nor memory. */
  public PodRequest(
      PodRef pod,
      String resourceVersion,
      PodDemand demand,
      Wishes wishes,
      int annotationBytes,
      List<String> zeroNumber) {
    this(pod, resourceVersion, demand, wishes, annotationBytes, zeroNumber, Host.ZERO);
  }
}
