package io.vgpu.control.simulate;

import io.vgpu.control.cluster.PodRequest;

/**
 * A pod that arrives.
 *
 * @param kind the same for pods that ask for the same: what fits one fits the other
 * @param share thousandths that it asks for of each card
 * @param count cards that it asks for
 */
record SimPod(PodRequest request, int kind, int share, int count) {
  /** What it asks for of all cards. */
  long milli() {
    return (long) share * count;
  }
}
