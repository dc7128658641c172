package io.vgpu.e2e.burst;

import io.vgpu.e2e.product.ContainerView;
import java.util.Optional;

/**
 * One start of one container, and what it has printed so far.
 *
 * @param run how often the container had been started before
 * @param seenAtMs when its log was first seen, a moment after its start
 */
record Print(String uid, String pod, String container, int run, long seenAtMs, String text) {
  /** What it saw; empty when it had not printed everything. */
  Optional<ContainerView> view() {
    return ContainerView.parse(text);
  }
}
