package io.vgpu.e2e.burst;

import io.vgpu.model.DemandCheck;
import io.vgpu.model.PodDemand;
import java.util.List;
import java.util.Map;

/**
 * One planned pod, or the Job that makes it.
 *
 * @param name of the pod, or of its Job
 * @param owned whether a Job makes it (and makes it again when it fails)
 * @param gated whether it is made with a scheduling gate, which a later step removes
 * @param annotations the user's wishes
 */
record PodPlan(
    String name, boolean owned, boolean gated, Map<String, String> annotations, List<Ask> asks) {
  PodPlan {
    annotations = Map.copyOf(annotations);
    asks = List.copyOf(asks);
    DemandCheck.firstBreach(new PodDemand(asks.stream().map(Ask::demand).toList()))
        .ifPresent(
            breach -> {
              throw new IllegalArgumentException("pod " + name + ": " + breach);
            });
  }
}
